"""The lifted graph: a checked program as neurons over predicates and numbers, equal formulas once. Begin with `lifting`;
`lifted` says what nodes hold."""
