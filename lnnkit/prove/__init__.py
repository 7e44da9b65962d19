"""Proving: encodes a question, and the part of the program on which it can depend, for Z3.

Bounds that inference has settled become constants, so proving starts from a fixpoint. It maps a checked query to a
`lnnkit.prove.verdict.Proved`, with a core that suffices for the verdict or with two models. Start with `decision`.
"""
