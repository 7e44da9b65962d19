"""Converts between offsets in a text and positions of the Language Server Protocol: lines, and code units within a
line."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Literal

Encoding = Literal["utf-8", "utf-16", "utf-32"]

_END = re.compile(r"\r\n|\n|\r")  # and no other: a form feed or U+2028 does not end a line of the protocol


class Positions:
    """The lines of a text. Offsets count code points; a position is a line and a number of code units, both from 0."""

    def __init__(self, text: str, encoding: Encoding = "utf-16") -> None:
        self.text = text
        self.encoding = encoding
        self._ends = [(match.start(), match.end()) for match in _END.finditer(text)]
        self._starts = [0, *(end for _, end in self._ends)]

    def position(self, offset: int) -> tuple[int, int]:
        """The position of an offset; an offset beyond the text gives the end of the text."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset) - 1
        return line, self._units(self.text[self._starts[line] : offset])

    def offset(self, line: int, character: int) -> int:
        """The offset of a position. A line beyond the text gives the end of the text, a character beyond the line the
        end of the line. A position inside a character gives the start of that character."""
        if line >= len(self._starts):
            return len(self.text)
        start = self._starts[max(line, 0)]
        end = self._ends[line][0] if line < len(self._ends) else len(self.text)
        if self.encoding == "utf-32" or self.text[start:end].isascii():
            return min(start + max(character, 0), end)
        taken = 0
        for offset in range(start, end):
            taken += self._units(self.text[offset])
            if taken > character:
                return offset
        return end

    def _units(self, text: str) -> int:
        if self.encoding == "utf-32" or text.isascii():
            return len(text)
        if self.encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text) + sum(character > "\uffff" for character in text)
