"""Proving: encodes a question, and the part of the program on which it can depend, for Z3.

Bounds that inference has settled are constants, so this stands on a fixpoint. A question comes in as a checked query;
a `lnnkit.prove.verdict.verdicts.Proved` comes out, with what suffices for it or with two models.
"""
