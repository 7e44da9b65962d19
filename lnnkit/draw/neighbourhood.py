"""The neighbourhood of an atom as a picture: the atoms and instances that its bounds depend on, nearest first."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from lnnkit.answer_table import formatter, number_state, state_in_words, truth_state
from lnnkit.explain.proof.proof import Proof, Step
from lnnkit.explain.proof.proof_text import because, free_names
from lnnkit.markup.plain_text import shortened
from lnnkit.picture.boxes import Arrow, Box
from lnnkit.picture.picture import Picture
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression, one_line

_SHOWN = 40  # characters of a line


@dataclass(slots=True)
class Neighbourhood:
    """The boxes and arrows of a picture, by the atoms and instances that they show. ``bounds`` gives those of an atom;
    ``numbers`` names the predicates that hold numbers."""

    proof: Proof
    bounds: Callable[[ast.Expression], tuple[float, float] | None]
    numbers: Collection[str]
    alpha: float
    boxes: dict[str, Box] = field(default_factory=dict)
    arrows: dict[tuple[str, str], Arrow] = field(default_factory=dict)

    def picture(self, depth: int, most: int) -> Picture:
        """Atoms with their bounds, and between them the instances that set them, up to ``depth`` instances away. A side
        whose bound is uninformative is left out with everything behind it."""
        ends = dict.fromkeys((self.proof.lower, self.proof.upper))
        telling = [number for number in ends if self.tells(number)]
        queue = [(number, 0) for number in telling or ends]
        seen: set[int] = set()
        left_out = 0
        for number, away in queue:
            if number in seen:
                continue
            seen.add(number)
            step = self.proof.steps[number]
            below = [premise.step for premise in step.premises if self.tells(premise.step)]
            if below and (away >= depth or len(self.boxes) + len(below) >= most):
                self.atom(step)
                left_out += len(below)
                continue
            self.step(step)
            queue += [(other, away + 1) for other in below]
        return Picture(self.proof.atom, list(self.boxes.values()), list(self.arrows.values()), left_out)

    def step(self, step: Step) -> None:
        """Add a proof step: its conclusion and the instance that derived it."""
        target = self.atom(step)
        if not step.premises:
            self._tell(target, _leaf(step))
            return
        name, lines = _instance(step)
        note = because(step) if step.statement is None else one_line(step.statement.span.text)
        self.boxes.setdefault(name, Box(name, "statement", lines, note=note))
        self.arrows.setdefault((name, target), Arrow(name, target))
        for premise in step.premises:
            below = self.proof.steps[premise.step]
            if not self.tells(premise.step):
                continue
            source = self.atom(below)
            self.arrows.setdefault((source, name), Arrow(source, name, premise.weight, negative=below.side == "upper"))

    def tells(self, number: int) -> bool:
        """Whether a step's bound is informative: tighter than [0, 1] for a truth, finite for a number."""
        step = self.proof.steps[number]
        if self._numeric(step):
            return math.isfinite(step.bound)
        return step.bound > 0 if step.side == "lower" else step.bound < 1

    def _numeric(self, step: Step) -> bool:
        conclusion = step.conclusion
        return isinstance(conclusion, ast.NumericNode) or (
            isinstance(conclusion, ast.Atom) and conclusion.name in self.numbers
        )

    def atom(self, step: Step) -> str:
        """The box of a step's conclusion; returns its name."""
        text = step.atom
        if text not in self.boxes:
            numeric = self._numeric(step)
            known = self.bounds(step.conclusion)
            if known is None:
                least, most = (-math.inf, math.inf) if numeric else (0.0, 1.0)
                known = (step.bound, most) if step.side == "lower" else (least, step.bound)
            state = number_state(*known) if numeric else truth_state(*known, self.alpha)
            said = "" if numeric else f"  {state_in_words(state, False)}"
            lines = [shortened(text, _SHOWN), f"{formatter(numeric)(*known)}{said}"]
            if names := free_names(step.conclusion):
                lines.append(f"for any other {' and '.join(names)}")
            self.boxes[text] = Box(text, "atom", tuple(lines), state, note=text)
        return text

    def _tell(self, name: str, line: str) -> None:
        """Add a line to a box."""
        box = self.boxes[name]
        if line and line not in box.lines:
            self.boxes[name] = replace(box, kind="fact", lines=(*box.lines, line))


def _leaf(step: Step) -> str:
    """The source of a bound without premises."""
    if step.given is not None:
        return f"{Path(step.given.file).name}:{step.given.row}"
    if step.statement is not None:
        return f"{step.statement.kind} {step.statement.called}"
    return {"closed": "no fact, closed", "completed": "no rule makes it truer"}.get(step.reason, "")


def _instance(step: Step) -> tuple[str, tuple[str, ...]]:
    """The name of an instance, and the text of its box."""
    bindings = ", ".join(f"{name} = {value}" for name, value in step.bindings.items())
    if step.reason == "completed":
        return f"completed {step.atom}", ("no rule makes it truer",)
    if step.statement is None:
        shown = step.reason if step.formula is None else format_expression(step.formula)
        whole = step.conclusion == step.formula
        return f"{step.reason} {shown}", ("by its operands" if whole else shortened(shown, _SHOWN),)
    span = step.statement.span
    shown = (shortened(bindings, _SHOWN),) if bindings else ()
    name = f"{span.source.path}:{span.line} {dict(step.bindings)}"
    return name, (f"{step.statement.kind} {step.statement.called}", *shown)
