"""A checked program -> its classical reading, and that as text for other provers."""
