"""A fixpoint -> the rows of a query, contradictions, contested answers and the plan, in the user's terms."""
