"""The parameters of a program: the learned numbers of its rules, each with a name.

A rule with a ``?`` learns the marked values only. A unit without weights and a ``<?>`` count as a ``?`` for each
missing weight. A rule without any ``?`` learns the weights and biases of its conjunctions and disjunctions, the weight
of any other antecedent, and its own truth, and also other weights, biases and an upper truth where they are written.
Axioms learn nothing, nor do rules of imported files.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor, nn

from lnnkit.check.learnables import in_assertion
from lnnkit.check.program import Assertion, CheckedProgram
from lnnkit.learn.parameters.learnable_places import (
    ParameterKind,
    Range,
    Replacement,
    chains,
    opened,
    plain,
    ranges,
    rewritten,
    truths,
)
from lnnkit.syntax import ast
from lnnkit.syntax.span import Span

OF_LOGIC = frozenset({"weight", "bias", "lower", "upper"})  # kinds of weights and truths, which are not negative


@dataclass(frozen=True, slots=True)
class LearnedParameter:
    """A learned number of ``rules``; ``marked`` ones are written as ``?``. ``start`` is None where none is given."""

    name: str
    kind: ParameterKind
    rules: tuple[str, ...]
    start: float | None
    marked: bool
    span: Span
    limits: Range | None = None

    @property
    def range(self) -> Range:
        """The least and the greatest value: those of connectives are not negative, those of truths within [0, 1]."""
        least, most = 0.0 if self.kind in OF_LOGIC else -math.inf, 1.0 if self.kind in ("lower", "upper") else math.inf
        return self.limits or (least, most)


def rule_names(program: CheckedProgram) -> dict[int, str]:
    """A name for each rule and axiom, by its index among the assertions: its own, or its line."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    for place, assertion in enumerate(program.assertions):
        name = assertion.called
        name = name if name not in taken else f"{name} (line {assertion.span.line})"
        taken.add(name)
        names[place] = name
    return names


def trainable(program: CheckedProgram, file: ast.Program) -> dict[str, int]:
    """The rules that may learn, those of the main ``file``: their indices among the assertions, by name."""
    path = file.span.source.path
    return {
        name: place
        for place, name in rule_names(program).items()
        if program.assertions[place].kind == "rule" and program.assertions[place].span.source.path == path
    }


class ParameterNaming:
    """Names the learned numbers of one rule, in order of occurrence. Names in ``fixed`` are not learned."""

    def __init__(self, rule: str, *, marked: bool, fixed: Collection[str | None] = ()) -> None:
        self._rule = rule
        self.marked = marked
        self._fixed = fixed
        self._counts: dict[ParameterKind, int] = {}

    def name(self, kind: ParameterKind, value: ast.Value | float) -> str | None:
        """The name of the next number; None if it is not learned."""
        learnable = isinstance(value, ast.Learnable)
        if learnable != self.marked or (learnable and value.name is not None and value.name in self._fixed):
            return None
        self._counts[kind] = self._counts.get(kind, 0) + 1
        if isinstance(value, ast.Learnable) and value.name is not None:
            return value.name
        return f"{self._rule}/{kind}{self._counts[kind]}"


def is_marked(assertion: Assertion) -> bool:
    """Whether the rule marks what it learns."""
    return assertion.unknown is not None or any(True for _ in in_assertion(_opened(assertion)))


def _opened(assertion: Assertion) -> Assertion:
    return replace(assertion, formula=opened(cast("ast.Expression", assertion.formula)))


def parametrised(
    program: CheckedProgram, file: ast.Program, trained: Collection[str]
) -> tuple[CheckedProgram, tuple[LearnedParameter, ...]]:
    """The program with each learned number as a ``?`` with its own name, and the parameters. ``trained`` are the names
    (`rule_names`) of the rules that learn; the ``?`` of other rules keep their values everywhere."""
    names, spans = rule_names(program), chains(file)
    untrained = [assertion for place, assertion in enumerate(program.assertions) if names[place] not in trained]
    fixed = {learnable.name for assertion in untrained for learnable in in_assertion(assertion)}
    learned: dict[str, LearnedParameter] = {}
    assertions: list[Assertion] = []
    limits: dict[str, Range] = {}
    for place, assertion in enumerate(program.assertions):
        if names[place] in trained:
            marked = is_marked(assertion)
            number = _entering(ParameterNaming(names[place], marked=marked, fixed=fixed), names[place], learned)
            assertions.append(_rewritten(_opened(assertion), number, spans, marked=marked))
            limits |= ranges(cast("ast.Expression", assertions[-1].formula))
        else:
            assertions.append(assertion)
    parameters = tuple(
        replace(
            parameter,
            start=1.0 if parameter.start is None and parameter.kind in OF_LOGIC else parameter.start,
            limits=limits.get(parameter.name),
        )
        for parameter in learned.values()
    )
    return replace(program, assertions=tuple(assertions)), parameters


def _entering(naming: ParameterNaming, rule: str, learned: dict[str, LearnedParameter]) -> Replacement:
    """Adds the numbers of a rule to the ``learned`` ones, and names each."""

    def number(kind: ParameterKind, value: ast.Value | float, span: Span) -> ast.Value | float:
        name = naming.name(kind, value)
        if name is None:
            return value
        given = value.initial if isinstance(value, ast.Learnable) else plain(value)
        start = None if given is None else float(given)
        known = learned.get(name) or LearnedParameter(name, kind, (), start, isinstance(value, ast.Learnable), span)
        rules = tuple(dict.fromkeys((*known.rules, rule)))
        learned[name] = replace(known, rules=rules, start=start if known.start is None else known.start)
        return ast.Learnable(name, start, span=span)

    return number


def at(
    program: CheckedProgram, values: Mapping[str, float], parameters: Sequence[LearnedParameter] = ()
) -> CheckedProgram:
    """A parametrised program with other initial values; those of ``parameters`` that are not marked become numbers."""
    unmarked = {parameter.name for parameter in parameters if not parameter.marked}

    def number(_kind: ParameterKind, value: ast.Value | float, _span: Span) -> ast.Value | float:
        now = values.get(value.name or "") if isinstance(value, ast.Learnable) else None
        if now is None or not isinstance(value, ast.Learnable):
            return value
        return ast.Number(now, span=value.span) if value.name in unmarked else replace(value, initial=now)

    assertions = (_rewritten(assertion, number, frozenset(), marked=True) for assertion in program.assertions)
    return replace(program, assertions=tuple(assertions))


def _rewritten(
    assertion: Assertion, number: Replacement, spans: Collection[tuple[int, int]], *, marked: bool
) -> Assertion:
    """The assertion with ``number`` applied to each number that may be learned."""
    formula = rewritten(cast(ast.Expression, assertion.formula), number, spans, marked=marked)
    lower, upper = truths(assertion.lower, assertion.upper, number, assertion.span, marked=marked)
    return replace(assertion, formula=formula, lower=_truth(lower), upper=_truth(upper))


def _truth(value: ast.Value | float) -> ast.Value | float:
    return float(value.value) if isinstance(value, ast.Number) else value


class ProgramModule(nn.Module):
    """One scalar in double precision for each learned number of a program, by name in ``values`` and in
    ``state_dict()``.

    torch allows no periods in names, so they are written ``%2E``; a name that is already an attribute of modules, such
    as ``to``, is written ``?to``. Inference reads the values when it starts.
    """

    def __init__(self, parameters: Sequence[LearnedParameter]) -> None:
        super().__init__()
        self.parameters_of_program = tuple(parameters)
        self.values = nn.ParameterDict()
        self._keys = {parameter.name: _key(parameter.name) for parameter in parameters}
        for parameter in parameters:
            start = torch.tensor(math.nan if parameter.start is None else parameter.start, dtype=torch.float64)
            self.values[self._keys[parameter.name]] = nn.Parameter(start)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters_of_program)

    def vector(self) -> Tensor:
        """All values, in the order of ``names``; differentiable."""
        if not self.parameters_of_program:
            return torch.zeros(0, dtype=torch.float64)
        return torch.stack([self.values[self._keys[name]] for name in self.names])

    def load(self, values: Mapping[str, float]) -> None:
        """Set values by name."""
        with torch.no_grad():
            for name, value in values.items():
                self.values[self._keys[name]].fill_(value)

    def current(self) -> Mapping[str, float]:
        """The values by name, as numbers, without those that are not set yet."""
        values = {name: float(self.values[self._keys[name]].detach()) for name in self.names}
        return {name: value for name, value in values.items() if not math.isnan(value)}

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={value:g}" for name, value in self.current().items())


def _key(name: str) -> str:
    key = name.replace("%", "%25").replace(".", "%2E")
    return f"?{key}" if hasattr(nn.ParameterDict(), key) else key
