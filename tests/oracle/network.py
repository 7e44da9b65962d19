"""Statements as neurons: identity up to renaming, sharing, defining rules, strata, ground instances."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .comparison import Read, truth, values
from .laws import alike
from .program import (
    ENTITY,
    NEURONS,
    QUANTIFIERS,
    TERMS,
    UNITS,
    UNKNOWN,
    Argument,
    Box,
    Formula,
    Program,
    ProgramError,
    bind_apart,
    free_variables,
    leaf_arguments,
    map_numbers,
    numbers,
    operands,
    subformulas,
    weights,
)
from .reals import ALL, between
from .sorts import Sorts

GENERIC = "<generic>"  # the entity that an open sort may still hold
Key = tuple[Any, ...]  # a neuron up to renaming
Place = tuple[Any, tuple[str, ...]]  # where bounds are kept: (predicate or neuron key, arguments)


@dataclass
class Node:
    """An occurrence of a subformula in a statement."""

    formula: Formula
    operands: list[Node]
    free: tuple[str, ...]  # free variables in canonical order
    sorts: dict[str, str]  # of its variables, from the places where they stand in it
    key: Key | None = None  # for neurons
    head: bool = False  # a closed derived atom in the consequent of a defining statement
    linked: Key | None = None  # of a part of a statement or a query: the shared neuron that it is an instance of

    @property
    def kind(self) -> str:
        return self.formula[0]


@dataclass
class Ground:
    """A node with entities for its variables; ``box`` is scratch for one round."""

    kind: str  # a neuron, "not", "leaf", or "fixed"
    operands: list[Ground] = field(default_factory=list)
    weights: tuple[float, ...] = ()
    bias: float = 1.0
    logic: str = ""
    unnamed: list[Ground] = field(default_factory=list)  # of a quantifier: its rows about unnamed individuals
    place: Place | None = None  # of a leaf: what it reads; of a neuron: where its own bounds would be
    form: object = None  # of a neuron: the instance itself, whichever lifted neuron it came from
    head: bool = False
    term: Formula | None = None  # of a comparison: itself, its arguments entities
    read: Read = lambda _: ALL  # of a comparison: the sets that its numbers were in on the way up
    closed: bool = False  # of a comparison: ends that are approached count as reached
    alike: bool = False  # of a comparison: of a term with itself
    box: Box = UNKNOWN


@dataclass
class Rule:
    """A statement without its leading universal quantifiers."""

    index: int
    root: Node
    free: tuple[str, ...]
    truth: Box
    heads: list[Formula]  # closed atoms of the consequent that it defines


class Network:
    """Everything about a program that does not depend on bounds."""

    def __init__(self, program: Program, closed_sets: bool = False) -> None:
        self.program = program
        self.closed_sets = closed_sets
        self.closed = {p.name for p in program.predicates if p.closed}
        self.numeric = {p.name for p in program.predicates if p.numeric}
        self.listed = {(fact.predicate, fact.arguments) for fact in program.facts}
        statements = [bind_apart(statement.formula) for statement in program.statements]
        queries = [bind_apart(query) for query in program.queries]
        self.sorts = Sorts(program, statements, queries)

        self.rules = []
        for i, (formula, sorts) in enumerate(zip(statements, self.sorts.statement_variables, strict=True)):
            truth = (program.statements[i].lower, program.statements[i].upper)
            while formula[0] == "forall" and truth[1] >= 1:
                formula = formula[2]
            heads = list(self._heads(formula[2][1])) if formula[0] == "implies" else []
            root = self._node(formula, sorts, mark_heads=bool(heads))
            self.rules.append(Rule(i, root, free_variables(formula), truth, heads))
        self.queries = [
            self._node(query, sorts) for query, sorts in zip(queries, self.sorts.query_variables, strict=True)
        ]
        self.query_free = [free_variables(query) for query in queries]
        self.derived = {atom[1] for rule in self.rules for atom in rule.heads}  # closed derived predicates
        self.strata = self._strata()
        self.of_unnamed: set[str] = set()  # the derived ones that may be true of unnamed individuals: `Completion`
        self.neurons: dict[Key, Node] = {}  # every neuron of the rules, merged
        for rule in self.rules:
            self._register(rule.root)
        self.kept_apart: set[Key | None] = set()
        for rule in self.rules:
            if rule.heads:
                self.kept_apart |= {rule.root.key, *self._consequents(rule.root.operands[1])}
        asserted = {key: self.neurons[key] for key in self._asserted() if key not in self.kept_apart}
        for rule in self.rules:
            self._read_asserted(rule.root, asserted)
        self.of_all = self._stated_of_all()
        self.asked_for: list[Key] = []  # neurons that parts of queries are instances of
        self.shared = self._shared()
        for query in self.queries:
            while query.kind == "not":  # what it asks for itself
                query = query.operands[0]
            self._link(query)
        self.shared = self._shared()

    # --- identity -----------------------------------------------------------------------------------------------------

    def _node(self, formula: Formula, sorts: dict[str, str], mark_heads: bool = False) -> Node:
        """``mark_heads``: this is the root of a defining statement."""
        sorts = self.sorts.local(formula, sorts)
        key, free = self._canonical(formula, sorts)
        node = Node(formula, [self._node(part, sorts) for part in operands(formula)], free, sorts)
        if formula[0] in NEURONS:
            node.key = key
        if mark_heads:
            self._mark(node.operands[1])
        return node

    def _mark(self, node: Node) -> None:
        """Marks the atoms that :meth:`_heads` finds."""
        node.head = node.kind == "atom" and node.formula[1] in self.closed
        if node.kind == "and":
            for part in node.operands:
                self._mark(part)

    def _heads(self, consequent: Formula) -> Iterator[Formula]:
        """Closed atoms that are the consequent, or direct positive conjuncts of it, through nested ``&``."""
        if consequent[0] == "atom" and consequent[1] in self.closed:
            yield consequent
        elif consequent[0] == "and":
            for part in operands(consequent):
                yield from self._heads(part)

    def _canonical(self, formula: Formula, sorts: dict[str, str]) -> tuple[Key, tuple[str, ...]]:
        """The formula with variables numbered by first mention, their sorts, and its free variables in that order."""
        numbers: dict[str, int] = {}

        def visit(f: Formula) -> Key:
            if f[0] in QUANTIFIERS:
                return f[0], tuple(numbers.setdefault(v, len(numbers)) for v in f[1]), visit(f[2])
            if is_leaf(f):
                numbered = tuple(
                    numbers.setdefault(text, len(numbers)) if kind == "var" else text
                    for kind, text in leaf_arguments(f)
                )
                return (*_frame(f), numbered)
            if f[0] in NEURONS:
                attributes = (*weights(f), f[-2], f[-1] or self.program.logic)
                return f[0], attributes, tuple(visit(part) for part in operands(f))
            return f[0], tuple(visit(part) for part in operands(f))

        shape = visit(formula)
        bound = set(numbers) - set(free_variables(formula))
        return (shape, tuple(sorts[v] for v in numbers)), tuple(v for v in numbers if v not in bound)

    def is_instance(self, query: Formula, neuron: Formula) -> bool:
        """Whether some substitution for the free variables of ``neuron`` makes it ``query``."""
        return self._substitution(query, neuron) is not None

    def _speaks_of(self, neuron: Node, query: Formula) -> bool:
        """Whether ``query`` is an instance of it, and about entities of its sorts."""
        found = self._substitution(query, neuron.formula)
        return found is not None and all(
            kind == "var" or text in self.sorts.domains[neuron.sorts[name]] for name, (kind, text) in found.items()
        )

    def _substitution(self, query: Formula, neuron: Formula) -> dict[str, Argument] | None:
        bindings: dict[str, Argument] = {}

        def match(a: Formula, b: Formula, inner_a: dict[str, int], inner_b: dict[str, int]) -> bool:
            if a[0] != b[0]:
                return False
            if a[0] in QUANTIFIERS:
                if len(a[1]) != len(b[1]):
                    return False
                depth = len(inner_a)
                here_a = inner_a | {v: depth + i for i, v in enumerate(a[1])}
                here_b = inner_b | {v: depth + i for i, v in enumerate(b[1])}
                return match(a[2], b[2], here_a, here_b)
            if is_leaf(a):
                if _frame(a) != _frame(b):
                    return False
                pairs = zip(leaf_arguments(a), leaf_arguments(b), strict=True)
                return all(self._fits(x, y, inner_a, inner_b, bindings) for x, y in pairs)
            if a[0] in NEURONS:
                own = [(*weights(f), f[-2], f[-1] or self.program.logic) for f in (a, b)]
                if own[0] != own[1]:
                    return False
            parts = operands(a), operands(b)
            return len(parts[0]) == len(parts[1]) and all(
                match(x, y, inner_a, inner_b) for x, y in zip(*parts, strict=True)
            )

        return bindings if match(query, neuron, {}, {}) else None

    @staticmethod
    def _fits(
        given: Argument,
        wanted: Argument,
        inner_given: dict[str, int],
        inner_wanted: dict[str, int],
        bindings: dict[str, Argument],
    ) -> bool:
        bound = inner_given.get(given[1]) if given[0] == "var" else None
        if wanted[0] == "const":
            return given == wanted
        if wanted[1] in inner_wanted:
            return bound == inner_wanted[wanted[1]]
        return bound is None and bindings.setdefault(wanted[1], given) == given

    # --- sharing ------------------------------------------------------------------------------------------------------

    def _register(self, node: Node) -> None:
        if node.key is not None:
            self.neurons.setdefault(node.key, node)
        for part in node.operands:
            self._register(part)

    def _shared(self) -> dict[Key, Node]:
        """Neurons that several instances read: of at least two uses, or of fewer variables than the formula around
        and of few instances; smallest first; never a defining root or its consequent.

        A comparison is always one: what it says of its numbers rests on its own bounds.
        """
        uses: Counter[Key] = Counter()
        seen: set[Key] = set()

        def use(node: Node, around: int = 0) -> None:
            while node.kind == "not":
                node = node.operands[0]
            key = node.linked or node.key
            if key is None:
                return
            uses[key] += 2 if len(node.free) < around and _has_few_instances(node) else 1
            if key not in seen:
                seen.add(key)
                for part in self.neurons[key].operands:
                    use(part, len(self.neurons[key].free))

        for rule in self.rules:
            use(rule.root)
        chosen = [
            key
            for key, count in uses.items()
            if ((count >= 2 or key in self.asked_for) and key not in self.kept_apart)
            or self.neurons[key].kind == "compare"
        ]
        return {key: self.neurons[key] for key in sorted(chosen, key=lambda key: _depth(self.neurons[key]))}

    def _read_asserted(self, node: Node, asserted: dict[Key, Node]) -> None:
        """Parts of statements that are instances of asserted neurons read their bounds."""
        for part in node.operands:
            if part.key is not None and part.kind != "compare" and not {part.key} & {*asserted, *self.kept_apart}:
                met = [key for key, neuron in asserted.items() if self.is_instance(part.formula, neuron.formula)]
                part.linked = min(met, key=lambda key: _arguments_within(asserted[key].formula, {}), default=None)
            self._read_asserted(part, asserted)

    def _link(self, query: Node) -> None:
        """Parts of a query that are instances of shared neurons read their bounds."""
        for part in query.operands:
            if part.key is not None and part.key not in self.shared:
                candidates = [*self.shared.items(), *((k, self.neurons[k]) for k in self._asserted())]
                found = (k for k, node in candidates if self._speaks_of(node, part.formula))
                part.linked = next((k for k in found if k not in self.kept_apart), None)
                if part.linked is not None:
                    self.asked_for.append(part.linked)
            self._link(part)

    def _stated_of_all(self) -> dict[Key | str, Box]:
        """What statements say of all instances of a neuron, or of all atoms of an open predicate."""
        found: dict[Key | str, Box] = {}
        for rule in self.rules:
            node, (lower, upper) = rule.root, rule.truth
            while node.kind == "not":
                node, (lower, upper) = node.operands[0], (1 - upper, 1 - lower)
            what: Key | str | None = node.key
            if node.kind == "atom":
                arguments = node.formula[2]
                distinct = len({text for kind, text in arguments if kind == "var"}) == len(arguments)
                what = node.formula[1] if distinct and node.formula[1] not in self.closed else None
            if what is not None:
                before = found.get(what, UNKNOWN)
                found[what] = max(before[0], lower), min(before[1], upper)
        return {what: box for what, box in found.items() if box[0] <= box[1]}

    def _asserted(self) -> Iterator[Key]:
        """The neurons beneath the negations at the heads of statements."""
        for rule in self.rules:
            node = rule.root
            while node.kind == "not":
                node = node.operands[0]
            if node.key is not None:
                yield node.key

    def _consequents(self, node: Node) -> Iterator[Key]:
        """The conjunctions between a defining root and its heads."""
        if node.kind == "and" and any(True for _ in self._heads(node.formula)):
            assert node.key is not None
            yield node.key
            for part in node.operands:
                yield from self._consequents(part)

    def assignments(self, variables: tuple[str, ...], sorts: dict[str, str]) -> Iterator[tuple[str, ...]]:
        return itertools.product(*(self.sorts.domains[sorts[v]] for v in variables))

    # --- strata -------------------------------------------------------------------------------------------------------

    def _strata(self) -> list[set[str]]:
        """Components of the closed derived predicates, each after what it depends on."""
        edges: dict[str, dict[str, bool]] = {name: {} for name in self.derived}  # head -> {body: some negative path}
        for rule in self.rules:
            for body, negative in self._signs(rule.root.formula[1][1], False) if rule.heads else ():
                for atom in rule.heads:
                    edges[atom[1]][body] = edges[atom[1]].get(body, False) or negative
        reach = {name: {name} for name in edges}
        for _ in edges:
            for name, targets in edges.items():
                reach[name] = reach[name].union(*(reach[target] for target in targets))
        components = {frozenset(o for o in reach[n] if n in reach[o]) for n in edges}
        for component in components:
            for name in component:
                for body, negative in edges[name].items():
                    if negative and body in component:
                        raise ProgramError(f"{name} depends on the negation of {body}, and {body} on {name}")
        return [set(c) for c in sorted(components, key=lambda c: (len(reach[min(c)]), min(c)))]

    def _signs(self, formula: Formula, negative: bool) -> Iterator[tuple[str, bool]]:
        match formula[0]:
            case "atom":
                if formula[1] in self.derived:
                    yield formula[1], negative
            case "not":
                yield from self._signs(formula[1], not negative)
            case "implies":
                yield from self._signs(formula[1][1], not negative)
                yield from self._signs(formula[2][1], negative)
            case "iff" | "xor":
                for part in operands(formula):
                    yield from self._signs(part, negative)
                    yield from self._signs(part, not negative)
            case _:
                for part in operands(formula):
                    yield from self._signs(part, negative)

    # --- grounding ----------------------------------------------------------------------------------------------------

    def ground(self, node: Node, env: dict[str, str], *, sharing: bool = True, top: bool = True) -> Ground:
        """The instance of ``node`` under ``env``. Shared neurons below it are leaves; ``top`` itself is opened up.

        Leaves that mention the generic entity are at their defaults; a shared neuron that does is unknown.
        """
        formula, here = node.formula, tuple(env[v] for v in node.free)
        match node.kind:
            case "true" | "false":
                return Ground("fixed", box=(1.0, 1.0) if node.kind == "true" else (0.0, 0.0))
            case "eq":
                left, right = _values(formula[1:], env)
                others = {side for side in (left, right) if side == GENERIC or not self.is_known(side)}
                if GENERIC in others and len(others) == len({left, right}) and formula[1] != formula[2]:
                    return Ground("fixed", box=UNKNOWN)  # two others may be one; no other is one of the program's
                return Ground("fixed", box=(1.0, 1.0) if left == right else (0.0, 0.0))
            case "atom":
                arguments = _values(formula[2], env)
                if GENERIC in arguments:
                    # How true completion makes a derived predicate of another entity is not known.
                    false = formula[1] in self.closed and formula[1] not in self.of_unnamed
                    stated = UNKNOWN
                    if all(  # of the sort of its place, and not of another that this one includes
                        node.sorts[text] == self.sorts.positions[formula[1], place]
                        for place, (kind, text) in enumerate(formula[2])
                        if kind == "var" and env[text] == GENERIC
                    ):
                        stated = self.of_all.get(formula[1], UNKNOWN)
                    return Ground("fixed", box=(0.0, 0.0) if false else stated)
                return Ground("leaf", place=(formula[1], arguments), head=node.head)
        if sharing and not top and node.linked is not None:
            if GENERIC in here:
                neuron = self.neurons[node.linked]
                found = self._substitution(formula, neuron.formula) or {}
                about = [(neuron.sorts[name], text) for name, (kind, text) in found.items() if kind == "var"]
                same = all(sort == node.sorts[text] for sort, text in about if env[text] == GENERIC)
                return Ground("fixed", box=self.of_all.get(node.linked, UNKNOWN) if same else UNKNOWN)
            return Ground("leaf", place=(node.linked, self._row_of(node.linked, self.form(formula, env, {}))))
        place = (node.key, here) if node.key is not None and GENERIC not in here else None
        if node.kind == "compare":
            return self._comparison(node, env, place, top)
        if sharing and not top and node.key in self.shared:
            stated = self.of_all.get(node.key, UNKNOWN)
            return Ground("leaf", place=place) if place else Ground("fixed", box=stated)

        def inner(part: Node, new: dict[str, str]) -> Ground:
            return self.ground(part, new, sharing=sharing, top=False)

        if node.kind == "not":
            return Ground("not", [inner(node.operands[0], env)])
        if node.kind in QUANTIFIERS:
            bound, body = formula[1], node.operands[0]
            is_open = {v: node.sorts[v] in self.sorts.open for v in bound}
            members = [(*self.sorts.domains[node.sorts[v]], *[GENERIC] * is_open[v]) for v in bound]
            rows, unnamed = [], []
            for row in itertools.product(*members):
                (unnamed if GENERIC in row else rows).append(inner(body, env | dict(zip(bound, row, strict=True))))
            return Ground(node.kind, rows, unnamed=unnamed, place=place, form=self.form(formula, env, {}))
        parts = [inner(part, env) for part in node.operands]
        form = self.form(formula, env, {})
        return Ground(
            node.kind, parts, weights(formula), formula[-2], formula[-1] or self.program.logic, place=place, form=form
        )

    def is_known(self, entity: str) -> bool:
        """Whether a fact or a statement names it; else a query alone does."""
        return entity in self.sorts.domains[ENTITY]

    def unlisted(self, predicate: str) -> Box:
        """The default of a predicate: of an atom that no place of the domain has."""
        if predicate in self.numeric:
            return -math.inf, math.inf
        return (0.0, 0.0) if predicate in self.closed else UNKNOWN

    def _row_of(self, key: Key, form: object) -> tuple[str, ...]:
        """What stands for a shared neuron's variables in an instance of it."""
        node = self.shared[key]
        for row in self.assignments(node.free, node.sorts):
            if self.form(node.formula, dict(zip(node.free, row, strict=True)), {}) == form:
                return row
        raise ValueError("no instance of it")

    def _comparison(self, node: Node, env: dict[str, str], place: Place | None, top: bool) -> Ground:
        """A leaf where a statement holds it; opened up, its numbers in their written order are its operands."""
        if place is None:  # of an entity that is not known, no number is
            kind, operator, left, right, scale, weight = node.formula
            assert kind == "compare"
            zero = between(0.0, 0.0)
            own = (zero, zero) if alike(node.formula) else None
            sides = own or (values(side, lambda _: ALL) for side in (left, right))
            return Ground("fixed", box=truth(operator, scale, weight, *sides))
        if not top and node.key in self.shared:
            return Ground("leaf", place=place)
        ground = ground_term(node.formula, env)
        leaves = [Ground("leaf", place=(number[1], number[2])) for number in dict.fromkeys(numbers(ground))]
        form = self.form(node.formula, env, {})
        same = alike(node.formula)
        return Ground("compare", leaves, place=place, form=form, term=ground, closed=self.closed_sets, alike=same)

    def form(self, formula: Formula, env: dict[str, str], bound: dict[str, int]) -> object:
        """The formula with entities for its free variables and numbers for its bound ones."""
        if formula[0] in QUANTIFIERS:
            inner = bound | {v: len(bound) + i for i, v in enumerate(formula[1])}
            return formula[0], len(formula[1]), self.form(formula[2], env, inner)
        if is_leaf(formula):
            arguments = tuple(
                bound[text] if kind == "var" and text in bound else env[text] if kind == "var" else text
                for kind, text in leaf_arguments(formula)
            )
            return (*_frame(formula), arguments)
        own = (*weights(formula), formula[-2], formula[-1] or self.program.logic) if formula[0] in NEURONS else ()
        return formula[0], own, tuple(self.form(part, env, bound) for part in operands(formula))


def is_leaf(formula: Formula) -> bool:
    """Whether it has arguments of its own: an atom, an equality, a comparison, a term."""
    return formula[0] in ("atom", "eq", "compare", *TERMS, *UNITS)


def _frame(leaf: Formula) -> Key:
    """All of a leaf but its arguments."""
    if leaf[0] in ("atom", "eq"):
        return leaf[0], leaf[1] if leaf[0] == "atom" else None
    return leaf[0], map_numbers(leaf, lambda number: ("number", number[1], len(number[2])))


def ground_term(formula: Formula, env: dict[str, str]) -> Formula:
    """A comparison or a term with entities for its variables."""
    return map_numbers(formula, lambda number: ("number", number[1], _values(number[2], env)))


def _values(arguments: tuple[Argument, ...], env: dict[str, str]) -> tuple[str, ...]:
    return tuple(env[text] if kind == "var" else text for kind, text in arguments)


def _has_few_instances(node: Node) -> bool:
    """Whether it compares no entities, and has one variable at most or all of them in each of its atoms."""
    parts = list(subformulas(node.formula))
    if any(part[0] == "eq" for part in parts):
        return False
    leaves = [part[2] for part in parts if part[0] == "atom"]
    leaves += [number[2] for part in parts if part[0] == "compare" for number in numbers(part)]
    named = [{text for kind, text in leaf if kind == "var"} for leaf in leaves]
    return len(node.free) < 2 or all(each.issuperset(node.free) for each in named)


def _arguments_within(formula: Formula, numbers: dict[str, int], bound: frozenset[str] = frozenset()) -> list[str]:
    """The arguments of its leaves: free variables by number, constants by name, bound variables alike."""
    if is_leaf(formula):
        return [
            "" if text in bound else f"\0{numbers.setdefault(text, len(numbers))}" if kind == "var" else text
            for kind, text in leaf_arguments(formula)
        ]
    inner = bound | {*formula[1]} if formula[0] in QUANTIFIERS else bound
    return [text for part in operands(formula) for text in _arguments_within(part, numbers, inner)]


def _depth(node: Node) -> int:
    return 1 + max(map(_depth, node.operands), default=0)
