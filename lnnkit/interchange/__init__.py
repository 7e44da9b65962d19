"""Another notation for logic: first-order formulas that people and language models write -> programs, and back.

`as_program.from_fol` reads a text (`fol_lines` makes `first_order` expressions of its lines) and writes a program,
with a comment for each liberty taken. The other way, `smtlib` writes what a checked program says in classical logic.
"""
