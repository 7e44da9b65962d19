"""Static analysis: formulas -> the supports of each leaf (found by running the kernels on abstract bounds), needs, and
the sides of tables that matter (magic sets). Nothing here reads a fact.
"""
