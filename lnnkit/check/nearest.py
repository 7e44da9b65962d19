"""The name that a user may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

CUTOFF = 0.7  # difflib's ratio: one wrong letter in four
MOST = 2_000  # names that are compared letter by letter; beyond, only those that begin alike


def nearest(name: str, candidates: Iterable[str], cutoff: float = CUTOFF) -> str | None:
    """The candidate equal to ``name`` but for case, else the most similar one, else None."""
    folded = name.casefold()
    others = sorted({candidate for candidate in candidates if candidate != name})
    for candidate in others:
        if candidate.casefold() == folded:
            return candidate
    if len(others) > MOST:
        others = [other for other in others if other[:2].casefold() == folded[:2]][:MOST]
    by_folded = {other.casefold(): other for other in reversed(others)}
    close = difflib.get_close_matches(folded, by_folded, n=1, cutoff=cutoff)
    return by_folded[close[0]] if close else None


def did_you_mean(name: str | None, otherwise: str) -> str:
    """A hint: the near name where there is one, and what to do in any case."""
    return f"did you mean `{name}`? Otherwise {otherwise}" if name else otherwise
