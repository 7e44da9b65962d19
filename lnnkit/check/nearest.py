"""The name that a user probably meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

CUTOFF = 0.7  # difflib's ratio: one wrong letter in four
_DIGITS = re.compile(r"\d+")
MOST = 2_000  # names that are compared letter by letter; beyond, only those that begin alike


def nearest(name: str, candidates: Iterable[str], cutoff: float = CUTOFF) -> str | None:
    """The candidate that equals ``name`` except for case or for two swapped letters; otherwise the most similar one, or
    None."""
    folded = name.casefold()
    others = sorted({candidate for candidate in candidates if candidate != name})
    for candidate in others:
        if candidate.casefold() == folded:
            return candidate
    for candidate in others:
        if _swapped(folded, candidate.casefold()):
            return candidate
    if len(others) > MOST:
        others = [other for other in others if other[:2].casefold() == folded[:2]][:MOST]
    by_folded = {other.casefold(): other for other in reversed(others)}
    close = difflib.get_close_matches(folded, by_folded, n=1, cutoff=cutoff)
    return by_folded[close[0]] if close else None


def without_numbers(name: str) -> str:
    """A case-folded name with each number replaced by 0. Names that differ only in a number, such as `P1` and `P10`,
    are different on purpose."""
    return _DIGITS.sub("0", name.casefold())


class OneEdit:
    """Names that differ in one letter, one more, one less, or two swapped ones; built in time linear in their
    number."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names: dict[str, list[str]] = {}
        for name in names:
            for key in _shortened(name):
                self._names.setdefault(key, []).append(name)

    def of(self, name: str) -> set[str]:
        """The names one edit away, and some that are two edits away."""
        return {other for key in _shortened(name) for other in self._names.get(key, ()) if other != name}


def _shortened(name: str) -> set[str]:
    """A name, and what is left of it without one of its letters."""
    folded = name.casefold()
    return {folded, *(folded[:place] + folded[place + 1 :] for place in range(len(folded)))}


def _swapped(one: str, other: str) -> bool:
    """Whether two neighbouring letters are swapped and nothing else differs; for short names the similarity ratio
    misses this."""
    if len(one) != len(other) or len(one) < 3:
        return False
    unlike = [place for place, (left, right) in enumerate(zip(one, other, strict=True)) if left != right]
    return (
        len(unlike) == 2
        and unlike[1] == unlike[0] + 1
        and one[unlike[0]] == other[unlike[1]]
        and (one[unlike[1]] == other[unlike[0]])
    )


def did_you_mean(name: str | None, otherwise: str) -> str:
    """A hint: the similar name if there is one, and what to do otherwise."""
    return f"did you mean `{name}`? Otherwise {otherwise}" if name else otherwise
