"""Another notation for logic: first-order formulas that people and language models write -> programs, and back.

In comes a text; `first_order` holds its formulas; out comes the text of a ``.lnn`` program with a comment for each
liberty taken. The other way, a checked program becomes formulas (its classical reading), printed as SMT-LIB.
"""
