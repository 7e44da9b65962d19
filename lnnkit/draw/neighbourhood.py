"""The neighbourhood of an atom as a picture: the atoms and instances that its bounds depend on, nearest first."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from lnnkit.answer_table import formatter, number_state, state_in_words, truth_state
from lnnkit.explain.proof.explanation import because, free_names
from lnnkit.explain.proof.proof import Proof, Step
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
        steps, ends = self.proof.steps, dict.fromkeys((self.proof.lower, self.proof.upper))
        queue = [(number, 0) for number in [end for end in ends if self.tells(steps[end])] or ends]
        seen: set[int] = set()
        left_out = 0
        for number, away in queue:
            if number in seen:
                continue
            seen.add(number)
            step = steps[number]
            below = [premise for premise in step.premises if self.tells(steps[premise.step])]
            full = away >= depth or len(self.boxes) + len(below) >= most
            target = self.atom(step)
            if below and full:
                left_out += len(below)
                continue
            if not step.premises:
                box, source = self.boxes[target], _source(step)
                if source and source not in box.lines:
                    self.boxes[target] = replace(box, kind="fact", lines=(*box.lines, source))
                continue
            instance = _instance(step)
            self.boxes.setdefault(instance.name, instance)
            self.arrows.setdefault((instance.name, target), Arrow(instance.name, target))
            for premise in below:
                source, negative = self.atom(steps[premise.step]), steps[premise.step].side == "upper"
                arrow = Arrow(source, instance.name, premise.weight, negative)
                self.arrows.setdefault((source, instance.name), arrow)
            queue += [(premise.step, away + 1) for premise in below]
        return Picture(self.proof.atom, list(self.boxes.values()), list(self.arrows.values()), left_out)

    def tells(self, step: Step) -> bool:
        """Whether a step's bound is informative: tighter than [0, 1] for a truth, finite for a number."""
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
            words = "" if numeric else f"  {state_in_words(state, False)}"
            lines = [shortened(text, _SHOWN), f"{formatter(numeric)(*known)}{words}"]
            if names := free_names(step.conclusion):
                lines.append(f"for any other {' and '.join(names)}")
            self.boxes[text] = Box(text, "atom", tuple(lines), state, note=text)
        return text


def _source(step: Step) -> str:
    """The source of a bound without premises."""
    if step.given is not None:
        return f"{Path(step.given.file).name}:{step.given.row}"
    if step.statement is not None:
        return f"{step.statement.kind} {step.statement.called}"
    return {"closed": "no fact, closed", "completed": "no rule makes it truer"}.get(step.reason, "")


def _instance(step: Step) -> Box:
    """The box of the instance that derived a bound."""
    name, lines, note = f"completed {step.atom}", ("no rule makes it truer",), because(step)
    if step.statement is not None:
        span, bindings = step.statement.span, ", ".join(f"{name} = {value}" for name, value in step.bindings.items())
        note = one_line(span.text)
        if step.reason != "completed":
            name = f"{span.source.path}:{span.line} {dict(step.bindings)}"
            lines = (f"{step.statement.kind} {step.statement.called}", shortened(bindings, _SHOWN))
    elif step.reason != "completed":
        shown = step.reason if step.formula is None else format_expression(step.formula)
        name = f"{step.reason} {shown}"
        lines = ("by its operands" if step.conclusion == step.formula else shortened(shown, _SHOWN),)
    return Box(name, "statement", tuple(filter(None, lines)), note=note)
