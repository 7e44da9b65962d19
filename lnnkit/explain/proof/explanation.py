"""An explanation: the proof of an atom's bounds, to print, export and check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lnnkit.answer_table import finite
from lnnkit.explain.checker.proof_checker import faults
from lnnkit.explain.checker.proof_world import World
from lnnkit.explain.proof.proof import Proof, Step
from lnnkit.explain.render.proof_page import fragment, proof_graph
from lnnkit.explain.render.proof_text import ProofData, lines
from lnnkit.markup.templating import document
from lnnkit.picture.dot_writer import dot
from lnnkit.syntax.printer import format_expression

_NESTED = 100  # nested steps in one JSON value: JSON readers recurse


@dataclass(frozen=True)
class Explanation(ProofData):
    """Why ``atom`` has its bounds. ``steps`` are numbered; ``lower`` and ``upper`` are the bounds.

    It prints as a tree in which a repeated step is shown once; ``as_dict`` is for JSON, ``to_dot`` for Graphviz,
    ``to_html`` gives a self-contained page. ``verify`` recomputes every step from the program's text alone.
    """

    _world: Callable[[], World] | None = field(default=None, repr=False)

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
        nested = _Nested(self.proof, depth).as_dict()
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


class _Nested:
    """Steps as nested dictionaries."""

    def __init__(self, proof: Proof, depth: int | None) -> None:
        self._proof = proof
        self._depth = depth
        self._repeated = proof.repeated()
        self._met: set[int] = set()

    def as_dict(self) -> dict[str, object]:
        more: list[dict[str, object]] = []
        waiting: list[tuple[int, int]] = []
        found: dict[str, object] = {
            "atom": self._proof.atom,
            "lower": self._node(self._proof.lower, 0, waiting),
            "upper": self._node(self._proof.upper, 0, waiting),
        }
        while waiting:
            number, level = waiting.pop()
            if number not in self._met:
                more.append(self._node(number, level, waiting) | {"id": number})
        return found | {"more": more} if more else found

    def _node(self, top: int, level: int, waiting: list[tuple[int, int]]) -> dict[str, object]:
        """A step and its premises, without recursion."""
        made: dict[str, object] = {}
        stack: list[tuple[int, int, dict[str, object], float | None]] = [(top, level, made, None)]
        while stack:
            number, at, node, weight = stack.pop()
            step = self._proof.steps[number]
            node.update({"atom": step.atom, "side": step.side, "bound": finite(step.bound)})
            if weight is not None:
                node["weight"] = weight
            if number in self._met or at - level > _NESTED:
                node["ref"] = number
                if number not in self._met:
                    waiting.append((number, at))
                continue
            self._met.add(number)
            if number in self._repeated:
                node["id"] = number
            node.update(_own(step))
            if step.given is not None:
                continue
            below = list(step.premises)
            if self._depth is not None and at >= self._depth:
                if below:
                    node["omitted"] = len(below)
                below = []
            premises: list[dict[str, object]] = [{} for _ in below]
            node["premises"] = premises
            children = [(p.step, at + 1, premise, p.weight) for p, premise in zip(below, premises, strict=True)]
            stack.extend(reversed(children))
        return made


def _own(step: Step) -> Mapping[str, object]:
    """The fields of a node that concern its step alone."""
    if step.given is not None:
        given = step.given
        return {"reason": "fact", "fact": given.text, "file": given.file, "row": given.row, "trust": given.trust}
    found: dict[str, object] = {"reason": step.reason, "rule": None, "text": None, "file": None, "line": None}
    if step.statement is not None:
        span = step.statement.span
        found |= {"rule": step.statement.name, "text": step.statement.text, "file": span.source.path, "line": span.line}
    if not step.all_seen:
        found["all_seen"] = False
    if step.reason == "exact":
        found["completed"] = [format_expression(atom) for atom in step.completes]
        found["rules"] = [
            {"text": rule.text, "file": rule.span.source.path, "line": rule.span.line} for rule in step.rules
        ]
    return found | {"bindings": dict(step.bindings)}
