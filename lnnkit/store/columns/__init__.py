"""Growing arrays, and sorted and distinct rows."""
