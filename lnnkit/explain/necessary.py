"""A minimal part of a collection that still has a property: QuickXplain (Junker 2004)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def minimal(items: Sequence[Item], enough: Callable[[Sequence[Item]], bool]) -> list[Item]:
    """A part of ``items`` that is ``enough`` and of which nothing can be left out; earlier items are preferred.

    ``enough`` must stay true when items are added, and be true of all. Asked about ``k log(n / k)`` times for ``k``
    items of ``n``.
    """
    if not items or enough(()):
        return []
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
