"""A minimal part of a collection that still has a property: QuickXplain (Junker 2004)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

_AT_ONCE = 64  # parts that are judged together

Item = TypeVar("Item")


def minimal(items: Sequence[Item], enough: Callable[[Sequence[Item]], bool]) -> list[Item]:
    """A part of ``items`` that is ``enough`` and of which nothing can be left out; earlier items are preferred.

    ``enough`` must stay true when items are added, and be true of all. Asked about ``k log(n / k)`` times for ``k``
    items of ``n``. All of them where not even these are enough.
    """
    if enough(()):
        return []
    if not enough(items):
        return list(items)
    kept: list[Item] = []
    # What may be dropped, and whether `kept` has grown since it was last found wanting without it.
    stack: list[tuple[Sequence[Item], Sequence[Item], bool]] = [(items, (), False)]
    while stack:
        part, behind, grown = stack.pop()
        # ``behind`` is decided after this part, and counts as there while this part is searched
        if grown and enough((*kept, *behind)):
            continue
        if len(part) == 1:
            kept.append(part[0])
            continue
        half = len(part) // 2
        first, second = part[:half], part[half:]
        # the later half is decided first, with the earlier one there: so earlier items are preferred
        stack.append((first, behind, True))
        stack.append((second, (*first, *behind), bool(first)))
    order = {id(item): place for place, item in enumerate(items)}
    return sorted(kept, key=lambda item: order[id(item)])


def minimal_at_once(items: Sequence[Item], enough: Callable[[Sequence[Sequence[Item]]], Sequence[bool]]) -> list[Item]:
    """The same where many parts are judged together as fast as one: ``enough`` answers for each of several.

    What cannot be left out alone cannot be left out at all. Of the others, the shortest beginning that is enough ends
    with one that is kept; then those before it are searched. Asked about ``k log(n) / log(64)`` times for ``k`` others.
    """
    kept: list[Item] = []
    rest: list[Item] = []
    for start in range(0, len(items), _AT_ONCE):
        some = items[start : start + _AT_ONCE]
        without = [[*items[: start + place], *items[start + place + 1 :]] for place in range(len(some))]
        for each, droppable in zip(some, enough(without), strict=True):
            (rest if droppable else kept).append(each)
    while rest:
        least = _shortest(kept, rest, enough)
        if not least:
            break
        kept.append(rest[least - 1])
        rest = rest[: least - 1]
    found = {id(item) for item in kept}
    return [item for item in items if id(item) in found]


def _shortest(
    kept: Sequence[Item], rest: Sequence[Item], enough: Callable[[Sequence[Sequence[Item]]], Sequence[bool]]
) -> int:
    """How long a beginning of ``rest`` has to be to be enough with what is kept; all of it if nothing is."""
    low, high = 0, len(rest)  # shorter ones than ``low`` are not enough; ``high`` is taken to be
    while low < high:
        step = max(1, -(-(high - low) // _AT_ONCE))
        lengths = list(range(low, high, step))
        holds = enough([[*kept, *rest[:length]] for length in lengths])
        first = next((place for place, held in enumerate(holds) if held), len(lengths))
        if first < len(lengths):
            high = lengths[first]
        low = high if first == 0 else lengths[first - 1] + 1
    return high
