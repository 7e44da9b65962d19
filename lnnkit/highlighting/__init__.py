"""`.lnn` text -> coloured tokens, by the TextMate grammar, for Pygments."""
