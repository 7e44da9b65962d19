"""An explanation as HTML: a collapsible tree, as a page or a fragment."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lnnkit.answer_table import format_bounds, state_in_words
from lnnkit.explain.proof.proof_data import ProofData, uses
from lnnkit.explain.render.proof_text import SIGNS, because, format_bound, subject
from lnnkit.markup.html_tree import TreeLine, tree
from lnnkit.markup.templating import document

if TYPE_CHECKING:
    from markupsafe import Markup

_OPEN = 3  # levels that are unfolded at first
_INDENTED = 9  # levels that are indented: on a telephone, more of them leave no room for words


def page(explanation: ProofData, depth: int | None = None) -> str:
    """A whole document."""
    return document(explanation.atom, fragment(explanation, depth))


def fragment(explanation: ProofData, depth: int | None = None) -> Markup:
    """The proof as an HTML fragment, to be embedded in a page."""
    bounds = format_bounds(explanation.lower, explanation.upper)
    said = f"{bounds} {state_in_words(explanation.state, explanation.contested)}"
    return tree(explanation.atom, said, _lines(explanation, depth), above=[_legend()])


def _legend() -> Markup:
    from markupsafe import Markup

    signs = '<b class="lower">≥</b> lower bounds, <b class="upper">≤</b> upper bounds'
    return Markup(f"{signs}; each rests on those within it.")


def _lines(explanation: ProofData, depth: int | None) -> Iterator[TreeLine]:
    """The lines of both sides, without recursion: an explicit stack holds what remains."""
    proof = explanation.proof
    repeated = {number for number, count in enumerate(uses(proof)) if count > 1}
    key = f"lnn-{zlib.crc32(explanation.atom.encode()):x}"  # A notebook may show several.
    met: set[int] = set()
    stack: list[tuple[int, int, float] | None] = [(top, 0, 1.0) for top in dict.fromkeys((proof.upper, proof.lower))]
    while stack:
        item = stack.pop()
        if item is None:
            yield TreeLine("close")
            continue
        number, level, weight = item
        step = proof.steps[number]
        below = [(premise.step, level + 1, premise.weight) for premise in step.premises]
        again = number in met and bool(below)
        met.add(number)
        claim = f"{subject(step)} {SIGNS[step.side]} {format_bound(step.bound)}{f' @{weight:g}' if weight != 1 else ''}"
        code = "" if step.statement is None else step.statement.text
        anchor = f"{key}-{number}" if number in repeated and below else ""
        if again:
            yield TreeLine("leaf", claim, because(step), code, step.side, to=anchor)
        elif not below or (depth is not None and level >= depth):
            more = f"{because(step)}, resting on {len(below)} more" if below else because(step)
            yield TreeLine("leaf", claim, more, code, step.side, anchor=anchor)
        else:
            opened, deep = level < _OPEN, level >= _INDENTED
            yield TreeLine("open", claim, because(step), code, step.side, opened, deep, anchor)
            stack += [None, *reversed(below)]
