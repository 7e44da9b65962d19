"""An explanation as boxes and arrows."""

from __future__ import annotations

import textwrap

from lnnkit.explain.proof.proof import Proof, Step
from lnnkit.explain.proof.proof_data import ProofData
from lnnkit.explain.render.proof_text import RELATION, because, format_bound, subject
from lnnkit.picture.boxes import Arrow, Box, Drawing

_GIVEN = ("fact", "closed", "open", "stated")
_WIDTH = 44  # greatest length of a line


def proof_graph(explanation: ProofData, depth: int | None = None) -> Drawing:
    """A box for each step no more than ``depth`` from an end; arrows lead from premises to conclusions."""
    proof = explanation.proof
    levels = {number: level for number, level in _levels(proof).items() if depth is None or level <= depth}
    boxes = [_box(number, proof.steps[number]) for number in levels]
    arrows = [
        Arrow(str(premise.step), str(number), premise.weight)
        for number, level in levels.items()
        if depth is None or level < depth
        for premise in proof.steps[number].premises
    ]
    return Drawing(explanation.atom, boxes, arrows)


def _box(number: int, step: Step) -> Box:
    conclusion = f"{subject(step)} {RELATION[step.side]} {format_bound(step.bound)}"
    lines = (*textwrap.wrap(conclusion, _WIDTH), *textwrap.wrap(because(step), _WIDTH))
    note = "" if step.statement is None else step.statement.text
    return Box(str(number), "fact" if step.reason in _GIVEN else "atom", lines, note=note)


def _levels(proof: Proof) -> dict[int, int]:
    """The steps, each with its distance from an end."""
    levels = {proof.lower: 0, proof.upper: 0}
    queue = list(levels)
    for number in queue:
        for premise in proof.steps[number].premises:
            if premise.step not in levels:
                levels[premise.step] = levels[number] + 1
                queue.append(premise.step)
    return levels
