"""Colours for `.lnn` text: one set of patterns, made from the grammar, for Pygments and for TextMate."""
