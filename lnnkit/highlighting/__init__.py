"""Colours for `.lnn` text, by the TextMate grammar, for Pygments."""
