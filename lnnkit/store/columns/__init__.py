"""Arrays: those that grow, their memory, numberings of their rows."""
