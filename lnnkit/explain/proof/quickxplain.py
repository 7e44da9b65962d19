"""Minimal subsets with a monotone property: QuickXplain (Junker 2004)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

# Parts judged by one batched evaluation; a limit of memory. The result does not depend on it: one by one takes a fifth
# longer, 8 to 512 cost alike (`python -m benchmarks.question_constants explained`)
_AT_ONCE = 64

T = TypeVar("T")


def minimal(items: Sequence[T], enough: Callable[[Sequence[T]], bool]) -> list[T]:
    """A minimal sublist of ``items`` that is ``enough``; earlier items are preferred.

    ``enough`` must be monotone and true of all items. It is called about ``k log(n / k)`` times for a result of
    ``k`` out of ``n`` items. Returns all items if not even these are enough.
    """
    if enough(()):
        return []
    if not enough(items):
        return list(items)
    kept: list[T] = []
    # Items that may be dropped, and whether `kept` has grown since the last failed test without them.
    stack: list[tuple[Sequence[T], Sequence[T], bool]] = [(items, (), False)]
    while stack:
        part, behind, grown = stack.pop()
        # ``behind`` is decided after this part, and counts as present while this part is searched
        if grown and enough((*kept, *behind)):
            continue
        if len(part) == 1:
            kept.append(part[0])
            continue
        half = len(part) // 2
        first, second = part[:half], part[half:]
        # the later half is decided first, with the earlier one present: so earlier items are preferred
        stack.append((first, behind, True))
        stack.append((second, (*first, *behind), bool(first)))
    order = {id(item): place for place, item in enumerate(items)}
    return sorted(kept, key=lambda item: order[id(item)])


def minimal_at_once(items: Sequence[T], enough: Callable[[Sequence[Sequence[T]]], Sequence[bool]]) -> list[T]:
    """The same where many subsets are tested together as fast as one: ``enough`` answers for each of several.

    An item that cannot be dropped alone cannot be dropped at all. Of the others, the shortest sufficient prefix
    ends with an item that is kept; then those before it are searched. It is called about ``k log(n) / log(64)``
    times for ``k`` others.
    """
    kept: list[T] = []
    rest: list[T] = []
    for start in range(0, len(items), _AT_ONCE):
        some = items[start : start + _AT_ONCE]
        without = [[*items[: start + place], *items[start + place + 1 :]] for place in range(len(some))]
        for item, droppable in zip(some, enough(without), strict=True):
            (rest if droppable else kept).append(item)
    while rest:
        least = _shortest(kept, rest, enough)
        if not least:
            break
        kept.append(rest[least - 1])
        rest = rest[: least - 1]
    ids = {id(item) for item in kept}
    return [item for item in items if id(item) in ids]


def _shortest(kept: Sequence[T], rest: Sequence[T], enough: Callable[[Sequence[Sequence[T]]], Sequence[bool]]) -> int:
    """The length of the shortest prefix of ``rest`` that is enough together with ``kept``; all of it if none is."""
    low, high = 0, len(rest)  # prefixes up to ``low`` are not enough; ``high`` is assumed to be
    while low < high:
        step = max(1, -(-(high - low) // _AT_ONCE))
        lengths = list(range(low, high, step))
        holds = enough([[*kept, *rest[:length]] for length in lengths])
        first = next((place for place, held in enumerate(holds) if held), len(lengths))
        if first < len(lengths):
            high = lengths[first]
        low = high if first == 0 else lengths[first - 1] + 1
    return high
