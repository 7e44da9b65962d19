"""Minimal subsets with a monotone property: QuickXplain (Junker 2004)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

# Parts judged by one batched evaluation; a limit of memory. The result does not depend on it: one by one takes a fifth
# longer, 8 to 512 cost alike (`python -m benchmarks.question_constants explained`)
_AT_ONCE = 64

T = TypeVar("T")


def minimal(items: Sequence[T], enough: Callable[[Sequence[T]], bool]) -> list[T]:
    """A minimal sublist of ``items`` that is ``enough``, a monotone property; earlier items are preferred. All items if
    not even these are. ``enough`` is called about ``k log(n / k)`` times for a result of ``k`` out of ``n`` items."""

    def kept(part: Sequence[T], beside: Sequence[T], grown: bool) -> list[T]:
        """Of a part, what is needed ``beside`` others; whether these have ``grown`` since they were not enough."""
        if grown and enough(beside):
            return []
        if len(part) == 1:
            return [*part]
        half = len(part) // 2
        # the later half is decided first, with the earlier one present: so earlier items are preferred
        later = kept(part[half:], (*part[:half], *beside), True)
        return [*kept(part[:half], (*later, *beside), bool(later)), *later]

    if enough(()):
        return []
    return kept(items, (), False) if enough(items) else list(items)


def minimal_at_once(items: Sequence[T], enough: Callable[[Sequence[Sequence[T]]], Sequence[bool]]) -> list[T]:
    """The same where many subsets are tested together as fast as one: ``enough`` answers for each of several. An item
    that cannot be dropped alone cannot be dropped at all. Of ``k`` others, the shortest sufficient prefix ends with one
    that is kept; then those before it are searched, with about ``k log(n) / log(64)`` calls."""
    needed = [False] * len(items)
    for start in range(0, len(items), _AT_ONCE):
        some = range(start, min(start + _AT_ONCE, len(items)))
        without = enough([[*items[:place], *items[place + 1 :]] for place in some])
        needed[start : some.stop] = [not droppable for droppable in without]
    rest = [place for place, kept in enumerate(needed) if not kept]
    while rest:
        others = [item for item, kept in zip(items, needed, strict=True) if kept]
        low, high = 0, len(rest)  # prefixes up to ``low`` are not enough; ``high`` is assumed to be
        while low < high:
            lengths = range(low, high, max(1, -(-(high - low) // _AT_ONCE)))
            holds = enough([[*others, *(items[place] for place in rest[:length])] for length in lengths])
            first = next((place for place, held in enumerate(holds) if held), len(lengths))
            high = lengths[first] if first < len(lengths) else high
            low = high if first == 0 else lengths[first - 1] + 1
        if not high:
            break
        needed[rest[high - 1]] = True
        rest = rest[: high - 1]
    return [item for item, kept in zip(items, needed, strict=True) if kept]
