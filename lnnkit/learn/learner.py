"""Learning for a knowledge base: its parameters, and fitting them; and its rules as text, with learned numbers and the
formulas found for unknown functions, without learned literals of constant truth.

Changed rules are printed anew, all other text is kept. A literal, a learned comparison in a rule's body, is identified
by its position in the file, which the checked rule shares with the file's."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from lnnkit.check.date_terms import with_dated_parameters
from lnnkit.check.learnables import among, substituted
from lnnkit.check.program import Assertion, CheckedProgram, Unknown
from lnnkit.check.walk import nodes, strip_foralls, transform, visits
from lnnkit.graph.lifting import build
from lnnkit.join.instances.grounding import Guard
from lnnkit.learn.fitting.chosen_values import chosen_start
from lnnkit.learn.fitting.fit_report import evidence, findings
from lnnkit.learn.fitting.fitting_problem import Fitting, Settings
from lnnkit.learn.fitting.gradient_descent import Checkpoint, FittedValues, Listen, as_it_stands, descend
from lnnkit.learn.parameters.constraints import LearnedNeuron, learned_neurons
from lnnkit.learn.parameters.rule_parameters import ProgramModule, at, opened, parametrised, trainable, with_values
from lnnkit.learn.replay.neural_predicates import Binding
from lnnkit.scores import Evidence
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, Span
from lnnkit.syntax.parse import parse, parse_expression
from lnnkit.syntax.printer import format_statement

LiteralSpan = tuple[int, int]  # start and end of a literal in the file's text


@dataclass(frozen=True, slots=True)
class Dropped:
    """The ``literals``, each with its truth, that a rule omits while its parameters have these ``values``."""

    rule: int
    literals: Mapping[LiteralSpan, bool]
    values: Mapping[str, float]

    def holds(self, values: Mapping[str, float]) -> bool:
        """Whether the rule's parameters still have these values."""
        return all(values.get(name) == value for name, value in self.values.items())


def place_of(span: Span) -> LiteralSpan:
    return span.start, span.end


@dataclass(frozen=True, slots=True)
class TrainedRule:
    """A rule by its ``name`` and its ``place`` among the assertions, as written, and with learned values."""

    name: str
    place: int
    before: ast.RuleStatement
    after: ast.RuleStatement


class Learner:
    """The learning state of a program. ``program`` is as checked, ``file`` its main file. ``module`` holds the
    parameters of all its rules; ``dropped`` are literals that rules omit as long as their parameters keep their values;
    ``functions`` are the formulas found for unknown functions, by name."""

    def __init__(self, program: CheckedProgram, file: ast.Program) -> None:
        self._file = file
        self._assertions = program.assertions
        self.rules = trainable(program, file)
        parameters = parametrised(program, file, self.rules)[1]
        self.module = ProgramModule(parameters)
        self.dropped: tuple[Dropped, ...] = ()
        self.functions: dict[str, FoundFunction] = {}

    def copied(self) -> Learner:
        """An independent copy with the same values."""
        learner = copy(self)
        learner.module = deepcopy(self.module)
        learner.functions = dict(self.functions)
        return learner

    @property
    def complete(self) -> bool:
        """Whether each parameter has a value."""
        return len(self.module.current()) == len(self.module.names)

    def settles(self, untrained: Diagnostic) -> bool:
        """Whether the parameter that a finding reports as untrained has a value now."""
        span, known = untrained.span, self.module.current()
        of_span = (parameter.name in known for parameter in self.module.parameters_of_program if parameter.span == span)
        return span is not None and (any(of_span) or (self.complete and span.text.startswith("?")))

    def states_equations(self, trained: Collection[str]) -> bool:
        """Whether a learning rule asserts a comparison of numbers: then contradictions are a training signal."""
        learning = {name for parameter in self.module.parameters_of_program for name in parameter.rules}
        stated = (self._assertions[self.rules[name]].formula for name in learning.intersection(trained, self.rules))
        return any(isinstance(formula, ast.Comparison) for formula in stated)

    def sought(self, trained: Collection[str]) -> dict[str, list[Unknown]]:
        """The statements about each unknown function, of those that occur in ``trained`` rules."""
        learning = {self.rules[name] for name in trained if name in self.rules}
        unknowns: dict[str, dict[int, Unknown]] = {}
        for place, assertion in enumerate(self._assertions):
            if assertion.unknown is not None:
                unknowns.setdefault(assertion.unknown.function, {})[place] = assertion.unknown
        return {name: list(by_place.values()) for name, by_place in unknowns.items() if by_place.keys() <= learning}

    def rules_with(self, *functions: str) -> tuple[str, ...]:
        """The names of the rules that contain one of these unknown functions."""
        unknowns = [(name, self._assertions[place].unknown) for name, place in self.rules.items()]
        return tuple(name for name, unknown in unknowns if unknown is not None and unknown.function in functions)

    def seeking(self, trained: Collection[str]) -> frozenset[str]:
        """The rules whose unknown functions are found if these rules are ``trained``."""
        return frozenset(self.rules_with(*self.sought(trained)))

    def settled(self, program: CheckedProgram) -> CheckedProgram:
        """The program with the module's values, and the formulas found for its functions."""
        learned, parameters = parametrised(with_functions(program, self.functions), self._file, self.rules)
        final = at(learned, self.module.current(), parameters)
        texts = {self.rules[name]: text for name, text in self.texts(program, changed=True).items()}
        assertions = [replace(assertion, learned=texts.get(place)) for place, assertion in enumerate(final.assertions)]
        for omitted in self.going_without:
            whole = assertions[omitted.rule]
            shorter = without(cast("ast.Expression", whole.formula), omitted.literals)
            assertions[omitted.rule] = whole if shorter is None else replace(whole, formula=shorter)
        return replace(final, assertions=tuple(assertions))

    @property
    def going_without(self) -> tuple[Dropped, ...]:
        """The literals that the learned rules omit at the module's values."""
        values = self.module.current() if self.dropped else {}
        return tuple(omitted for omitted in self.dropped if omitted.holds(values))

    def written(self, program: CheckedProgram) -> ast.Program:
        """The main file with the module's values, without the literals that rules omit."""
        text, done, pieces = self._file.span.source.text, 0, []
        for rule in self.learned(program, self.going_without):
            if rule.after != rule.before:
                pieces += [text[done : rule.before.span.start], format_statement(rule.after, as_written=True)]
                done = rule.before.span.end
        return parse("".join([*pieces, text[done:]]), self._file.span.source.path)[0]

    def learned(self, program: CheckedProgram, dropped: Sequence[Dropped] = ()) -> Iterator[TrainedRule]:
        """The learning rules, with the module's values and all of their literals but the ``dropped`` ones."""
        values = self.module.current()
        written = {statement.span.start: statement for statement in self._file.statements}
        literals = {omitted.rule: omitted.literals for omitted in dropped}
        dates = {known for known, predicate in program.predicates.items() if predicate.numeric == "date"}
        for name, place in sorted(self.rules.items(), key=lambda rule: program.assertions[rule[1]].span.start):
            assertion = program.assertions[place]
            statement = written[assertion.span.start]
            assert isinstance(statement, ast.RuleStatement)
            new = replace(statement, formula=with_dated_parameters(statement.formula, dates)) if dates else statement
            new = with_values(new, name, assertion, values)
            if assertion.unknown is not None and (found := self.functions.get(assertion.unknown.function)) is not None:
                node = next(node for node in nodes(new.formula) if isinstance(node, ast.UnknownFunction))
                new = replace(new, formula=found.put(new.formula, node, node.operands, assertion.unknown.span))
            shorter = without(new.formula, literals.get(place, {}))
            yield TrainedRule(name, place, statement, new if shorter is None else replace(new, formula=shorter))

    def texts(self, program: CheckedProgram, *, changed: bool = False) -> dict[str, str]:
        """The text of each learning rule, by name, with the module's values; optionally only those that changed."""
        texts: dict[str, str] = {}
        for trained in self.learned(program, self.going_without):
            before, after = (format_statement(rule, as_written=True) for rule in (trained.before, trained.after))
            if not changed or after != before:
                texts[trained.name] = after
        return texts

    def fit(
        self,
        program: CheckedProgram,
        trained: Collection[str],
        settings: Settings,
        guard: Guard,
        listen: Listen | None,
        checkpoint: Path | None,
        bindings: Sequence[Binding] = (),
    ) -> tuple[FittedValues, Evidence, tuple[Diagnostic, ...]]:
        """Fit the parameters of the rules ``trained``; the module takes the values. Returns the evidence for a report,
        without the texts of the rules, and the findings. Literals that were dropped from trained rules are restored.
        Raises `Unstarted`, and what `descend` does."""
        again = {self.rules[name] for name in trained}
        self.dropped = tuple(omitted for omitted in self.dropped if omitted.rule not in again)
        learned, parameters = parametrised(self.settled(program), self._file, trained)
        fitting = Fitting(learned, parameters, settings, guard, [self.rules[name] for name in trained], bindings)
        if not parameters and not bindings:
            fitted = as_it_stands(fitting)
            return fitted, evidence(learned, fitting, fitted), ()
        start = chosen_start(fitting)
        saved = None if checkpoint is None else Checkpoint.of(checkpoint, fitting, start, self._file.span.source.text)
        fitted = descend(fitting, start, listen, saved)
        self.module.load(fitting.named(fitted.values))
        return fitted, evidence(learned, fitting, fitted), findings(fitting, fitted)

    def neurons(self, program: CheckedProgram) -> list[LearnedNeuron]:
        """The connectives of the rules that learn, at the module's values."""
        lifted = build(self.settled(program))
        return learned_neurons(lifted, {place: name for name, place in self.rules.items()})


@dataclass(frozen=True, slots=True)
class FoundFunction:
    """Pairs of a condition (None: always) and a term, texts in which ``?x0`` is the first operand, and so on."""

    cases: tuple[tuple[str | None, str], ...]

    def put(
        self, root: ast.Expression, old: ast.Expression, operands: Sequence[ast.Expression], span: Span
    ) -> ast.Expression:
        """The formula ``root`` with ``old`` replaced by this one, or by each piece of it under its condition."""
        stated: list[ast.Expression] = []
        for condition, term in self.cases:
            piece = substituted(root, old, _filled(term, operands, span))
            if condition is not None:
                piece = ast.Implies(_filled(condition, operands, span), strip_foralls(piece), span=span)
            stated.append(piece)
        return stated[0] if len(stated) == 1 else ast.And(tuple(stated), span=span)


def with_functions(program: CheckedProgram, functions: Mapping[str, FoundFunction]) -> CheckedProgram:
    """The program with the formulas ``functions``, by function name, substituted in its statements."""
    if not functions:
        return program
    gone: set[str] = set()
    assertions: list[Assertion] = []
    for assertion in program.assertions:
        unknown = assertion.unknown
        if unknown is not None and unknown.function in functions:
            root = cast("ast.Expression", assertion.formula)
            formula = functions[unknown.function].put(root, unknown.atom, unknown.operands, unknown.span)
            assertion = replace(assertion, formula=formula)
            gone.add(unknown.atom.name)
        assertions.append(assertion)
    left = {name: predicate for name, predicate in program.predicates.items() if name not in gone}
    return replace(program, assertions=tuple(assertions), predicates=left)


def _filled(text: str, operands: Sequence[ast.Expression], span: Span) -> ast.Expression:
    parsed, findings = parse_expression(text, "<formula>")
    assert parsed is not None, findings

    def change(node: ast.Expression) -> ast.Expression:
        if isinstance(node, ast.Learnable) and node.name is not None:
            return operands[int(node.name.removeprefix("x"))]
        return replace(node, span=span)

    return transform(parsed, change)


def learned_literals(formula: ast.Expression) -> Iterator[ast.Comparison]:
    """The comparisons with a learned value in an antecedent or beside an equivalence, except of bound variables."""
    formula, bodies = strip_foralls(formula), ()
    if isinstance(formula, ast.Implies):
        bodies = (formula.antecedent,)
    elif isinstance(formula, ast.Iff):
        bodies = (formula.left, formula.right)
    for visit in (visit for body in bodies for visit in visits(body)):
        if isinstance(visit.node, ast.Comparison) and not visit.scope and any(among(nodes(opened(visit.node)))):
            yield visit.node


def without(formula: ast.Expression, literals: Mapping[LiteralSpan, bool]) -> ast.Expression | None:
    """The formula without literals of constant truth; None if nothing else would remain, or if one decides it."""

    def change(node: ast.Expression) -> ast.Expression:
        if isinstance(node, (ast.Comparison, ast.And)) and place_of(node.span) in literals:
            return ast.Truth(literals[place_of(node.span)], span=node.span)
        if isinstance(node, ast.Not) and isinstance(node.operand, ast.Truth):
            return replace(node.operand, value=not node.operand.value)
        return _without_neutral(node) if isinstance(node, (ast.And, ast.Or)) else node

    shorter = transform(formula, change)
    return None if _decided(shorter) else shorter


def _without_neutral(node: ast.And | ast.Or) -> ast.Expression:
    """The connective without neutral operands (true in a conjunction, false in a disjunction), whatever their weights.
    With a weight or a bias and one operand left, a constant remains beside it. A false operand makes an unweighted
    conjunction false, a true one an unweighted disjunction true."""
    neutral = isinstance(node, ast.And)
    plain = not node.attributes and not any(isinstance(operand, ast.Weighted) for operand in node.operands)
    if plain and any(_truth(operand) is (not neutral) for operand in node.operands):
        return ast.Truth(not neutral, span=node.span)
    kept = [operand for operand in node.operands if _truth(operand) is not neutral]
    if len(kept) == len(node.operands):
        return node
    if not kept or (len(kept) == 1 and (node.attributes or isinstance(kept[0], ast.Weighted))):
        kept.append(ast.Truth(neutral, span=node.span))
    return replace(node, operands=tuple(kept)) if len(kept) > 1 else kept[0]


def _truth(operand: ast.Expression) -> bool | None:
    inner = operand.operand if isinstance(operand, ast.Weighted) else operand
    return inner.value if isinstance(inner, ast.Truth) else None


def _decided(formula: ast.Expression) -> bool:
    """Whether a constant occurs other than as the neutral operand of a conjunction or disjunction."""
    constants = (visit for visit in visits(formula) if isinstance(visit.node, ast.Truth))
    return any(not isinstance(constant.parent, ast.And if _truth(constant.node) else ast.Or) for constant in constants)
