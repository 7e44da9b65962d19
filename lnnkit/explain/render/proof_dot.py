"""An explanation as a graph in the DOT language."""

from __future__ import annotations

from collections.abc import Iterator

from lnnkit.explain.proof.explained import Explained
from lnnkit.explain.proof.proof import Proof
from lnnkit.explain.render.as_text import RELATION, because, format_bound, subject

_SHAPES = {"fact": "note", "closed": "note", "open": "plaintext", "stated": "note"}


def dot(explanation: Explained, depth: int | None = None) -> str:
    """Arrows lead from what a step rests on to its conclusion; their width is the operand's weight."""
    return "\n".join(_lines(explanation.proof, depth)) + "\n"


def _lines(proof: Proof, depth: int | None) -> Iterator[str]:
    yield "digraph explanation {"
    yield "  rankdir=BT; node [shape=box, style=rounded, fontname=sans, fontsize=11]; edge [fontname=sans, fontsize=9];"
    for number, level in reached(proof).items():
        step = proof.steps[number]
        if depth is not None and level > depth:
            continue
        label = f"{subject(step)} {RELATION[step.side]} {format_bound(step.bound)}\n{because(step)}"
        shape = f", shape={_SHAPES[step.reason]}" if step.reason in _SHAPES else ""
        yield f"  {number} [label={quoted(label)}{shape}];"
        if depth is not None and level == depth:
            continue
        for premise in step.premises:
            told = f', label="@{premise.weight:g}"' if premise.weight != 1.0 else ""
            yield f"  {premise.step} -> {number} [penwidth={0.5 + premise.weight:.2f}{told}];"
    yield "}"


def reached(proof: Proof) -> dict[int, int]:
    """The steps, each with how far it is from an end."""
    levels = {proof.lower: 0, proof.upper: 0}
    queue = list(levels)
    for number in queue:
        for premise in proof.steps[number].premises:
            if premise.step not in levels:
                levels[premise.step] = levels[number] + 1
                queue.append(premise.step)
    return levels


def quoted(text: str) -> str:
    """A string of the DOT language."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
