"""Growing arrays, their memory, and numberings of their rows."""
