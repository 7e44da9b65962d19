"""Explanations of a fixpoint, from its trail: proofs, what is missing for more, conflicts and their repairs. Start with
`explainer`, which answers each question by the packages here: a `proof` rests on what `provenance` finds of each bound,
and is checked by `checker`, which knows no engine."""
