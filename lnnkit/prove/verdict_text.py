"""Verdicts as text to be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lnnkit.answer_table import format_bounds
from lnnkit.prove.verdicts import Proved, ShownWorld
from lnnkit.syntax.digits import in_digits

_ROWS = 30  # atoms of a model that are listed
_BECAUSE = {
    "entailed": "it follows from",
    "refuted": "its negation follows from",
    "inconsistent": "these cannot all hold",
}


def lines(proved: Proved) -> Iterator[str]:
    """The verdict, what it rests on, and the models."""
    yield f"{proved.formula}   {headline(proved)}"
    if proved.core:
        yield f"  {_BECAUSE.get(proved.verdict, 'this suffices for its bounds')}"
        yield from (f"    {member}" for member in proved.core)
    for model in proved.models:
        yield f"  {title(proved, model)}"
        yield from (f"    {line}" for line in _table(model))
    yield from (f"  note: {note}" for note in proved.notes)


def headline(proved: Proved) -> str:
    """The verdict with its reading, and the bounds of the exact one."""
    if proved.lower is None or proved.upper is None:
        return f"{proved.verdict} (classical)"
    return f"{proved.verdict} {format_bounds(proved.lower, proved.upper)} (exact)"


def title(proved: Proved, model: ShownWorld) -> str:
    """What a model shows."""
    if proved.reading == "classical":
        return "a world in which it holds" if model.truth >= 0.5 else "a world in which it does not"
    return f"a world in which it is {in_digits(model.truth)}"


def rows(model: ShownWorld) -> Sequence[tuple[str, str]]:
    """The atoms and numbers of a model with their values."""
    return [
        *((text, in_digits(round(truth, 9))) for text, truth in model.atoms),
        *((text, in_digits(value)) for text, value in model.numbers),
    ]


def _table(model: ShownWorld) -> Iterator[str]:
    shown = rows(model)
    width = max((len(text) for text, _ in shown[:_ROWS]), default=0)
    yield from (f"{text:<{width}}  {value}" for text, value in shown[:_ROWS])
    if len(shown) > _ROWS:
        yield f"... and {len(shown) - _ROWS:,} more"
