"""Other notations for logic: texts that people and programs write -> programs, and programs -> texts that provers read.

In comes a text in first-order logic, TPTP or a logic program of a benchmark; `first_order` holds it as formulas; out
comes the text of a ``.lnn`` program with a comment for each liberty taken. The other way, a checked program becomes
formulas of `first_order` (its classical reading), printed as SMT-LIB or TPTP.
"""
