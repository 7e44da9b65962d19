"""Verdicts as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lnnkit.answer_table import format_bounds
from lnnkit.prove.verdict.verdicts import Decided, ShownWorld
from lnnkit.syntax.digits import in_digits

_ROWS = 30  # atoms of a model that are listed
_BECAUSE = {
    "entailed": "it follows from",
    "refuted": "its negation follows from",
    "inconsistent": "these cannot all hold",
}


def lines(decided: Decided) -> Iterator[str]:
    """The verdict, its core, and the models."""
    yield f"{decided.formula}   {headline(decided)}"
    if decided.core:
        yield f"  {_BECAUSE.get(decided.verdict, 'this suffices for its bounds')}"
        yield from (f"    {member}" for member in decided.core)
    for model in decided.models:
        yield f"  {title(decided, model)}"
        yield from (f"    {line}" for line in _table(model))
    yield from (f"  note: {note}" for note in decided.notes)


def headline(decided: Decided) -> str:
    """The verdict with its reading, and the bounds of the exact one."""
    if decided.lower is None or decided.upper is None:
        return f"{decided.verdict} (classical)"
    return f"{decided.verdict} {format_bounds(decided.lower, decided.upper)} (exact)"


def title(decided: Decided, model: ShownWorld) -> str:
    """What a model shows."""
    if decided.reading == "classical":
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
