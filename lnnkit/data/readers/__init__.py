"""Files, databases and frames -> sheets of columns. Start at `sheets`, which opens a file by its suffix, once for all
statements that name it."""
