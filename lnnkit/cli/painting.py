"""Colours of output: used on a terminal that shows them, unless ``NO_COLOR`` is set."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TextIO

Paint = Callable[[str, str], str]  # a text and what it is -> the text, with its colour

_CODES = {
    "query": "1",
    "heads": "2",
    "true": "32",
    "likely_true": "2;32",
    "false": "31",
    "likely_false": "2;31",
    "unknown": "2",
    "lower": "32",
    "upper": "31",
    "contradiction": "1;35",
    "note": "2",
    "error": "1;31",
    "warning": "1;33",
}
"""SGR parameters; what is not listed is printed as it is."""


def plain(text: str, _kind: str) -> str:
    """No colours."""
    return text


def coloured(text: str, kind: str) -> str:
    """The text in the colour of its kind."""
    code = _CODES.get(kind)
    return f"\x1b[{code}m{text}\x1b[0m" if code and text else text


def paint_for(stream: TextIO | None) -> Paint:
    """The paint function that suits a stream."""
    return coloured if shows_colours(stream) else plain


def shows_colours(stream: TextIO | None) -> bool:
    """Whether the stream is a terminal with colours and ``NO_COLOR`` is not set (https://no-color.org)."""
    if stream is None or not stream.isatty() or os.environ.get("NO_COLOR"):
        return False
    if sys.platform == "win32":  # older consoles print the codes
        return "WT_SESSION" in os.environ
    return os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
