"""Tables -> facts: in come files, databases and Python objects, out come `table.FactTable`s, with a diagnostic for each
faulty row; and all entities, interned.

Start at `load.read_table` (``told_table`` for Python objects): `readers` make a `grid.Sheet`, `grid.choose` picks its
columns, `cells` reads them, `facts` puts them together. A check without tables imports neither numpy nor Arrow.
"""
