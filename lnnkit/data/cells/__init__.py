"""Columns as Arrow or Python has them -> entities (`texts`), numbers (`numbers`) and the rows that a ``where`` keeps
(`conditions`)."""
