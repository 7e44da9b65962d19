"""An explanation as HTML: a collapsible tree, as a page or a fragment."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lnnkit.answer_table import format_bounds, state_in_words
from lnnkit.explain.proof.proof import Step
from lnnkit.explain.proof.proof_data import ProofData, uses
from lnnkit.explain.render.proof_text import because, format_bound, subject
from lnnkit.markup.templating import document, rendered

if TYPE_CHECKING:
    from markupsafe import Markup

_OPEN = 3  # levels that are unfolded at first
_SIGNS = {"lower": "≥", "upper": "≤"}


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the tree: a step that ``opens`` a list of its premises, or a ``leaf``; ``close`` ends a list."""

    kind: Literal["open", "leaf", "close"]
    number: int = 0
    step: Step | None = None
    weight: float = 1.0
    unfolded: bool = False
    anchored: bool = False  # the id that later references use
    again: bool = False  # it was shown above
    cut: int = 0  # number of premises left out

    @property
    def conclusion(self) -> str:
        assert self.step is not None
        return f"{subject(self.step)} {_SIGNS[self.step.side]} {format_bound(self.step.bound)}"

    @property
    def because(self) -> str:
        assert self.step is not None
        return because(self.step)


def page(explanation: ProofData, depth: int | None = None) -> str:
    """A whole document."""
    return document(explanation.atom, fragment(explanation, depth))


def fragment(explanation: ProofData, depth: int | None = None) -> Markup:
    """The proof as an HTML fragment, to be embedded in a page."""
    return rendered(
        "proof.html",
        atom=explanation.atom,
        bounds=format_bounds(explanation.lower, explanation.upper),
        state=state_in_words(explanation.state, explanation.contested),
        rows=list(_rows(explanation, depth)),
        key=f"{zlib.crc32(explanation.atom.encode()):x}",  # A notebook may show several.
    )


def _rows(explanation: ProofData, depth: int | None) -> Iterator[_Row]:
    """The rows of both sides, without recursion: an explicit stack holds what remains."""
    proof = explanation.proof
    repeated = {number for number, count in enumerate(uses(proof)) if count > 1}
    met: set[int] = set()
    stack: list[tuple[int, int, float] | None] = [(top, 0, 1.0) for top in dict.fromkeys((proof.upper, proof.lower))]
    while stack:
        item = stack.pop()
        if item is None:
            yield _Row("close")
            continue
        number, level, weight = item
        step = proof.steps[number]
        below = [(premise.step, level + 1, premise.weight) for premise in step.premises]
        again = number in met and bool(below)
        met.add(number)
        cut = len(below) if depth is not None and level >= depth else 0
        anchored = number in repeated and bool(below) and not again
        if again or cut or not below:
            yield _Row("leaf", number, step, weight, anchored=anchored, again=again, cut=0 if again else cut)
            continue
        yield _Row("open", number, step, weight, unfolded=level < _OPEN, anchored=anchored)
        stack += [None, *reversed(below)]
