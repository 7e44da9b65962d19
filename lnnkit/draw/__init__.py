"""Pictures of a program and of its results: what is drawn. `lnnkit.picture` draws it."""
