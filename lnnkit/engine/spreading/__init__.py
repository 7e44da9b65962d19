"""Fast path for rounds that only insert new atoms with one bound."""
