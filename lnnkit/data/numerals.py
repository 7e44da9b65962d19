"""How texts spell numbers and truths: which do, and hints for the others, about what was meant and how to write it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from lnnkit.syntax.dates import formats, hours_hint, is_date

UNSAID = "leave the cell empty where the value is unknown"
_SEPARATED = re.compile(r"[+-]?\d{1,3}(?:[,_' \u00a0\u202f]\d{3})+(?:\.\d+)?")
_WRITTEN = re.compile(r"[+-]?\d*\.?\d+(?:[eE][+-]?\d+)?")
_COMMA = re.compile(r"(?P<whole>[+-]?(?:\d+|\d{1,3}(?:[.' \u00a0\u202f]\d{3})+)),(?P<part>\d+)")
_UNIT = re.compile(r"(?:[^\w\s]|\w{0,4}\s)?\s*[+-]?[\d.]+\s*(?:[^\W\d]{1,4}|[^\w\s])?")

NUMERAL = re.compile(
    r"{blanks}[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?P<inf>inf(?:inity)?)){blanks}".format(
        blanks=r"[^\S\x1c-\x1f]*"  # the separators are no blanks to `float`
    ),
    re.IGNORECASE,
)
TRUTHS = {word: float(word in ("true", "yes", "t", "y")) for word in ["true", "yes", "t", "y", "false", "no", "f", "n"]}
"""The words that are truth values, in any case, beside numbers from 0 to 1."""


def decimal_comma(text: str) -> str | None:
    """A number with a decimal comma (`1.234,5` too), written with a point; None for any other text."""
    match = _COMMA.fullmatch(text.strip())
    return None if match is None else re.sub(r"[^\d+-]", "", match["whole"]) + "." + match["part"]


def pointed(text: str) -> str | None:
    """A number as written where commas are decimal, with a point: `1.234` is a thousand and more. The text itself if it
    is no number; None for a number with a point, such as `1.5`."""
    if (number := decimal_comma(text)) is not None:
        return number
    if re.fullmatch(r"[+-]?\d{1,3}(?:[.' \u00a0\u202f]\d{3})+", text.strip()):
        return re.sub(r"[^\d+-]", "", text)
    return None if "." in text and _WRITTEN.fullmatch(text.strip()) else text


def meant(text: str) -> str:
    """A hint for a value that is not a number, as written."""
    text = re.sub(r"\\(?:xa0|u202f)", " ", text.strip("'\" "))  # blanks that `repr` spells
    if _SEPARATED.fullmatch(text):
        return f"a number has no separators: write {re.sub(r'[^0-9.+-]', '', text)}"
    if (number := decimal_comma(text)) is not None:
        return f'a number has a point, not a comma: write {number}, or end the `load` with `decimal ","`'
    if text.lower() in ("true", "false"):
        return f"write {int(text.lower() == 'true')}"
    if is_date(text):
        reads = " or ".join(f'`pd.to_datetime(column, format="{form}")`' for form in formats([text]))
        iso = f", and rewrite the column as 2024-01-15, in pandas by {reads}" if reads else ""
        return f"a date is not a number: declare it with `date` instead of `number`{iso}"
    if re.fullmatch(r"\d{1,2}:\d{2}(?::\d{2})?", text):
        return f"a time is not a number: {hours_hint(text)}"
    if _WRITTEN.fullmatch(text) and math.isfinite(float(text)):
        return f"it is text: give the number {text} itself"
    if _WRITTEN.fullmatch(text):
        return "it is too large for a float of 64 bits: write it in larger units"
    match = _WRITTEN.search(text)
    if match and text.endswith("%"):
        return f"write {float(match[0]) / 100:.15g}, or the number alone"
    if match and _UNIT.fullmatch(text):
        return f"a number has no unit: write {match[0]}, and put the unit into the name"
    return UNSAID


def several_units(texts: Iterable[str]) -> str | None:
    """A hint for numbers, as written, that have more than one unit; None for others."""
    cells = (text.strip("'\" ") for text in texts)
    units = dict.fromkeys(re.sub(r"[\s\d.+-]", "", cell) for cell in cells if _UNIT.fullmatch(cell))
    if len(units) < 2:
        return None
    return f"a number has no unit, and these have {' and '.join(units)}: convert them to one, and put it into the name"
