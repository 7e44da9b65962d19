"""Another notation for logic: first-order formulas that people and language models write -> programs.

`as_program.from_fol` reads a text (`fol_lines` makes `first_order` expressions of its lines) and writes a program,
with a comment for each liberty taken.
"""
