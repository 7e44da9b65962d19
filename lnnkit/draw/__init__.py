"""A program and its results -> the boxes and arrows of a picture, which `lnnkit.picture` draws."""
