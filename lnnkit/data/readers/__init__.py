"""Files, databases and frames -> sheets of columns; `lnnkit.data.load` chooses the reader."""
