"""Learning for a knowledge base: its parameters, fitting them, and scoring its answers."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from pathlib import Path
from typing import cast

import torch

from lnnkit.check.date_terms import with_dated_parameters
from lnnkit.check.program import CheckedProgram, Unknown
from lnnkit.graph.lifting import build
from lnnkit.join.instances.grounding import Guard
from lnnkit.learn.fitting.chosen_values import fast_start
from lnnkit.learn.fitting.fit_report import evidence, findings
from lnnkit.learn.fitting.fitting_problem import Fitting, Settings
from lnnkit.learn.fitting.gradient_descent import Checkpoint, FittedValues, Listen, as_it_stands, descend
from lnnkit.learn.labels import label_queries, labelled_bounds, labels, mentioned
from lnnkit.learn.parameters.constraints import LearnedNeuron, learned_neurons
from lnnkit.learn.parameters.rule_parameters import (
    ParameterNaming,
    ProgramModule,
    at,
    is_marked,
    parametrised,
    trainable,
)
from lnnkit.learn.parameters.trained_text import (
    Dropped,
    FoundFunction,
    TrainedRule,
    with_function,
    with_functions,
    with_values,
    without,
)
from lnnkit.learn.replay.neural_predicates import Binding
from lnnkit.learn.replay.recorded_inference import trace
from lnnkit.scores import Evidence, Scores
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_statement


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
            new = with_values(new, ParameterNaming(name, marked=is_marked(assertion)), values)
            new = with_function(new, assertion, self.functions)
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
        start = fast_start(fitting)
        saved = None
        if checkpoint is not None:
            saved = Checkpoint(checkpoint, _key(fitting, start, self._file.span.source.text))
        fitted = descend(fitting, start, listen, saved)
        self.module.load(fitting.named(fitted.values))
        return fitted, evidence(learned, fitting, fitted), findings(fitting, fitted)

    def neurons(self, program: CheckedProgram) -> list[LearnedNeuron]:
        """The connectives of the rules that learn, at the module's values."""
        lifted = build(self.settled(program))
        return learned_neurons(lifted, {place: name for name, place in self.rules.items()})


def _key(fitting: Fitting, start: torch.Tensor, text: str) -> str:
    """Identifies a run for its checkpoint."""
    labels = fitting.labels
    settings = replace(fitting.settings, classical=frozenset())  # sets print in no fixed order
    digest = hashlib.sha256(repr((settings, sorted(fitting.settings.classical), labels.names)).encode())
    entities = (ids for columns in labels.columns for ids in columns)
    for tensor in (start, labels.predicate, labels.lower, labels.upper, *entities):
        digest.update(tensor.contiguous().numpy().tobytes())
    digest.update(text.encode())
    return digest.hexdigest()


def evaluate(program: CheckedProgram, guard: Guard, max_rounds: int) -> Scores:
    """The scores of a program's answers for its labels. Raises `TooLarge`."""
    queries = label_queries(program)
    inference = trace(program, {}, queries, guard=guard, round_limit=max_rounds)
    labelled = labels(program, mentioned(program, queries))
    return labelled_bounds(inference, labelled).scores(torch.arange(len(labelled)))
