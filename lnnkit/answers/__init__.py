"""From a fixpoint to answers in the user's terms: the rows of a query, contradictions, contested answers, the plan."""
