"""The answer to a question, ready to be read and exported."""

from __future__ import annotations

from lnnkit.prove.verdict.verdict_page import fragment
from lnnkit.prove.verdict.verdict_text import lines
from lnnkit.prove.verdict.verdicts import Decided


class Proved(Decided):
    """The answer to a question (see `Decided` for what it holds). It prints as text; ``as_dict`` is for JSON."""

    def __str__(self) -> str:
        return "\n".join(lines(self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return fragment(self)
