"""An explanation as HTML, a collapsible tree, and as boxes and arrows."""

from __future__ import annotations

import textwrap
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lnnkit.answer_table import format_bounds, state_in_words
from lnnkit.explain.proof.proof import Step
from lnnkit.explain.render.proof_text import SIGNS, ProofData, because, claimed, left_out
from lnnkit.markup.html_tree import TreeLine, tree
from lnnkit.picture.boxes import Arrow, Box, Drawing

if TYPE_CHECKING:
    from markupsafe import Markup

_OPEN = 3  # levels that are unfolded at first
_GIVEN = ("fact", "closed", "open", "stated")
_WIDTH = 44  # greatest length of a line in a box
_INDENTED = 9  # levels that are indented: on a telephone, more of them leave no room for words


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
    repeated = explanation.proof.repeated()
    key = f"lnn-{zlib.crc32(explanation.atom.encode()):x}"  # A notebook may show several.
    for visit in explanation.proof.walk(depth):
        if visit is None:
            yield TreeLine("close")
            continue
        number, level, step = visit.number, visit.level, explanation.steps[visit.number]
        claim, code = claimed(step, visit.weight, SIGNS), "" if step.statement is None else step.statement.text
        anchor = f"{key}-{number}" if number in repeated and step.premises else ""
        if visit.opens:
            opened, deep = level < _OPEN, level >= _INDENTED
            yield TreeLine("open", claim, because(step), code, step.side, opened, deep, anchor)
        elif visit.again:
            yield TreeLine("leaf", claim, because(step), code, step.side, to=anchor)
        else:
            yield TreeLine("leaf", claim, because(step) + left_out(step), code, step.side, anchor=anchor)


def proof_graph(explanation: ProofData, depth: int | None = None) -> Drawing:
    """A box for each step no more than ``depth`` from an end; arrows lead from premises to conclusions."""
    steps, levels = explanation.steps, dict.fromkeys(explanation.proof.ends, 0)
    queue = list(levels)
    for number in queue:
        fresh = [each.step for each in steps[number].premises if each.step not in levels]
        if depth is None or levels[number] < depth:
            levels |= dict.fromkeys(fresh, levels[number] + 1)
            queue += dict.fromkeys(fresh)
    arrows = [
        Arrow(str(premise.step), str(number), premise.weight)
        for number, level in levels.items()
        if depth is None or level < depth
        for premise in steps[number].premises
    ]
    return Drawing(explanation.atom, [_box(number, steps[number]) for number in levels], arrows)


def _box(number: int, step: Step) -> Box:
    lines = tuple(line for text in (claimed(step, 1.0), because(step)) for line in textwrap.wrap(text, _WIDTH))
    note = "" if step.statement is None else step.statement.text
    return Box(str(number), "fact" if step.reason in _GIVEN else "atom", lines, note=note)
