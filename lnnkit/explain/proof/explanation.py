"""An explanation: the proof of an atom's bounds, to print, export and check; as JSON, as HTML (a collapsible tree), and
as boxes and arrows."""

from __future__ import annotations

import textwrap
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lnnkit.answer_table import finite, format_bounds, state_in_words
from lnnkit.explain.checker.proof_checker import faults
from lnnkit.explain.checker.proof_world import ProofWorld
from lnnkit.explain.proof.proof import Proof, Step
from lnnkit.explain.proof.proof_text import SIGNS, ProofData, because, claimed, left_out, lines
from lnnkit.markup.fragments import TreeLine, tree
from lnnkit.markup.templating import document
from lnnkit.picture.boxes import Arrow, Box, Drawing, dot
from lnnkit.syntax.printer import format_expression

if TYPE_CHECKING:
    from markupsafe import Markup

_NESTED = 100  # nested steps in one JSON value: JSON readers recurse
_LEGEND = '<b class="lower">≥</b> lower bounds, <b class="upper">≤</b> upper bounds; each rests on those within it.'
_OPEN = 3  # levels that are unfolded at first
_GIVEN = ("fact", "closed", "open", "stated")
_WIDTH = 44  # greatest length of a line in a box
_INDENTED = 9  # levels that are indented: on a telephone, more of them leave no room for words


@dataclass(frozen=True)
class Explanation(ProofData):
    """Why ``atom`` has its bounds. ``steps`` are numbered; ``lower`` and ``upper`` are the bounds.

    It prints as a tree in which a repeated step is shown once; ``as_dict`` is for JSON, ``to_dot`` for Graphviz,
    ``to_html`` gives a self-contained page. ``verify`` recomputes every step from the program's text alone.
    """

    _world: Callable[[], ProofWorld] | None = field(default=None, repr=False)

    def verify(self) -> list[str]:
        """The faults found by the proof checker; empty if the proof holds."""
        assert self._world is not None
        return faults(self.proof, self._world())

    def as_dict(self, depth: int | None = None) -> dict[str, object]:
        """The object that ``lnnkit explain --format json`` prints; steps deeper than ``depth`` are left out.

        ``{"atom", "state", "contested", "lower": NODE, "upper": NODE}``. A NODE has ``atom``, ``side``, ``bound``,
        ``reason``, ``rule``, ``text``, ``file``, ``line``, ``bindings`` and ``premises`` (NODEs, with the
        ``weight`` of the operand); a fact has ``fact``, ``file``, ``row``, ``trust``; an exact step the atoms that are
        ``completed``, and the ``rules`` that do so (``text``, ``file``, ``line``). A step that is used again has an
        ``id``; a NODE that has only ``ref`` refers to it. Very deep steps are in a list ``more``.
        """
        nested = _nested(self.proof, depth)
        return {"atom": nested["atom"], "state": self.state, "contested": self.contested} | nested

    def to_dot(self, depth: int | None = None) -> str:
        """A graph for Graphviz: arrows lead from premises to conclusions."""
        return dot(proof_graph(self, depth))

    def to_html(self, depth: int | None = None) -> str:
        """A self-contained HTML page."""
        return document(self.atom, fragment(self, depth))

    def text(self, depth: int | None = None) -> str:
        """The tree, as ``lnnkit explain`` prints it."""
        return "\n".join(line.plain for line in lines(self, depth))

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return str(fragment(self))


def _nested(proof: Proof, depth: int | None) -> dict[str, object]:
    """The steps as nested dictionaries."""
    repeated, met = proof.repeated(), set[int]()
    ends: list[dict[str, object]] = []
    more: list[dict[str, object]] = []
    around = [ends]  # the premises of the steps around a visit
    for visit in proof.walk(depth):
        if visit is None:
            around.pop()
            continue
        number, step = visit.number, proof.steps[visit.number]
        claim: dict[str, object] = {"atom": step.atom, "side": step.side, "bound": finite(step.bound)}
        node = claim | ({"weight": visit.weight} if visit.level else {})
        around[-1].append(node)
        deep = visit.level > 0 and visit.level % (_NESTED + 1) == 0
        if number in met or deep:
            node["ref"] = number
        if number in met:
            continue
        met.add(number)
        if deep:
            more.append(node := claim)
        node |= ({"id": number} if deep or number in repeated else {}) | _step_fields(step)
        if step.given is None:
            premises: list[dict[str, object]] = []
            omitted = {"omitted": len(step.premises)} if step.premises and not visit.opens else {}
            node |= omitted | {"premises": premises}
            around += [premises] if visit.opens else []
    if len(ends) == 1:
        ends.append({key: ends[0][key] for key in ("atom", "side", "bound")} | {"ref": proof.upper})
    fields: dict[str, object] = {"atom": proof.atom, "lower": ends[0], "upper": ends[1]}
    return fields | {"more": more} if more else fields


def _step_fields(step: Step) -> dict[str, object]:
    """The fields of a node that concern its step alone."""
    if step.given is not None:
        given = step.given
        return {"reason": "fact", "fact": given.text, "file": given.file, "row": given.row, "trust": given.trust}
    entry: dict[str, object] = {"reason": step.reason, "rule": None, "text": None, "file": None, "line": None}
    if step.statement is not None:
        span = step.statement.span
        entry |= {"rule": step.statement.name, "text": step.statement.text, "file": span.source.path, "line": span.line}
    if not step.all_seen:
        entry["all_seen"] = False
    if step.reason == "exact":
        entry["completed"] = [format_expression(atom) for atom in step.completes]
        entry["rules"] = [
            {"text": rule.text, "file": rule.span.source.path, "line": rule.span.line} for rule in step.rules
        ]
    return entry | {"bindings": dict(step.bindings)}


def fragment(explanation: ProofData, depth: int | None = None) -> Markup:
    """The proof as an HTML fragment, to be embedded in a page."""
    from markupsafe import Markup

    bounds = format_bounds(explanation.lower, explanation.upper)
    said = f"{bounds} {state_in_words(explanation.state, explanation.contested)}"
    return tree(explanation.atom, said, _lines(explanation, depth), above=[Markup(_LEGEND)])


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
        fresh = [premise.step for premise in steps[number].premises if premise.step not in levels]
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
