"""The lifted graph: a checked program as neurons over predicates and numbers, equal formulas once. `lifting` builds it,
`lifted` says what nodes hold."""
