"""Random programs for the oracle and the engine, in the oracle's structure, and their ``.lnn`` text.

``generate(seed, size, mode)`` is a function of its arguments. In the modes "crisp" and "fuzzy" a hidden world (a truth
value for each atom) is drawn first, and every fact and statement holds in it, so the program is satisfiable and each
answer must contain the world's value. In the mode "free" nothing keeps facts and rules from contradicting.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from hypothesis import strategies as st

from tests.oracle import Box, Fact, Formula, Predicate, Program, ProgramError, Statement
from tests.oracle.network import Network, Rule
from tests.oracle.program import (
    NEURONS,
    QUANTIFIERS,
    TERMS,
    UNITS,
    bind_apart,
    free_variables,
    operands,
    rename,
    subformulas,
    weights,
)
from tests.term_text import chain_text, comparison_text, group, number_text, term_text

MODES = ("crisp", "fuzzy", "free")
LOGICS = ("lukasiewicz", "product", "godel")
ENTITIES = {"person": ("anna", "bob", "cleo"), "city": ("rome", "oslo"), "entity": ("anna", "bob", "cleo", "dora")}
FREE = {"person": ("X", "Y", "Z"), "city": ("A", "B"), "entity": ("X1", "Y1", "Z1")}  # a name fixes its sort
BOUND = {"person": ("U", "V", "W"), "city": ("C", "D"), "entity": ("U1", "V1", "W1")}
SORT_OF = {name: sort for names in (FREE, BOUND) for sort, group in names.items() for name in group}
World = dict[tuple[str, tuple[str, ...]], float]
SLACK = 1e-12  # rounding only: the world is exact where the engine has its tolerance


@dataclass
class Generated:
    """A program, and the world that it was drawn from unless its mode is "free"."""

    program: Program
    world: World | None
    seed: int
    mode: str


def programs(modes: tuple[str, ...] = MODES, max_size: int = 6) -> st.SearchStrategy[Generated]:
    """The generator as a Hypothesis strategy over seed, size and mode."""
    return st.builds(generate, st.integers(0, 2**32 - 1), st.integers(1, max_size), st.sampled_from(modes))


# --- truth in a world, straight from the definitions ------------------------------------------------------------------


def values_of(kind: str, logic: str, w: tuple[float, ...], bias: float, x: list[float]) -> set[float]:
    """All that a connective may be at a point: within the tolerance of a jump, either side."""
    values = {value_of(kind, logic, w, bias, x)}
    if logic == "godel" and kind in ("implies", "iff", "xor"):
        b = bias if kind == "implies" else 1.0
        orders = ((0, 1),) if kind == "implies" else ((0, 1), (1, 0))
        for i, j in orders:
            passes = Fraction(b) - Fraction(w[i]) * (1 - Fraction(x[i]))
            tops = 1 - Fraction(w[j]) * (1 - Fraction(x[j]))
            if passes > 0 and tops < 1 and abs(_clamp(float(passes)) - _clamp(float(tops))) <= 1e-9:
                fallen = _clamp(_clamp(float(tops)) + 1 - b)
                values.add(1 - fallen if kind == "xor" else fallen)
    return values


def value_of(kind: str, logic: str, w: tuple[float, ...], bias: float, x: list[float]) -> float:
    """A connective at a point (P2; semantics 1 to 4)."""
    match kind:
        case "and" if logic == "lukasiewicz":
            return _clamp(bias - sum(v * (1 - a) for v, a in zip(w, x, strict=True)))
        case "and" if logic == "product":
            exponent = sum(v * (math.inf if a == 0 else -math.log(a)) for v, a in zip(w, x, strict=True) if v > 0)
            return _clamp(math.exp(-(exponent - (bias - 1))))
        case "and":
            return _clamp(bias - max(v * (1 - a) for v, a in zip(w, x, strict=True)))
        case "or":
            return 1 - value_of("and", logic, w, bias, [1 - a for a in x])
        case "implies" if logic == "lukasiewicz":
            return _clamp(1 - bias + w[0] * (1 - x[0]) + w[1] * x[1])
        case "implies" if logic == "product":
            n, d = math.exp(1 - bias) * x[1] ** w[1], x[0] ** w[0]
            return 1.0 if d <= n else n / d
        case "implies":
            a, b = _clamp(bias - w[0] * (1 - x[0])), _clamp(1 - w[1] * (1 - x[1]))
            return 1.0 if a <= b + SLACK else _clamp(b + 1 - bias)
        case "iff":
            there = value_of("implies", logic, w, bias, x)
            return min(there, value_of("implies", logic, w[::-1], bias, x[::-1]))
        case "xor":
            return 1 - value_of("iff", logic, w, bias, x)
    raise ValueError(kind)


def _clamp(x: float) -> float:
    return max(0.0, min(1.0, x))


@dataclass
class Truth:
    """Evaluates formulas in a world, quantifiers over the domains of sorts."""

    logic: str
    world: World
    domains: Mapping[str, Sequence[str]]

    def __call__(self, formula: Formula, env: dict[str, str], sorts: dict[str, str]) -> float:
        match formula[0]:
            case "true" | "false":
                return float(formula[0] == "true")
            case "atom":
                return self.world[place_of(formula, env)]
            case "eq":
                left, right = (env[t] if k == "var" else t for k, t in formula[1:])
                return float(left == right)
            case "not":
                return 1 - self(formula[1], env, sorts)
            case "forall" | "exists":
                rows = [self(formula[2], env | row, sorts) for row in self.rows(formula[1], sorts)]
                return min(rows, default=1.0) if formula[0] == "forall" else max(rows, default=0.0)
        values = [self(part, env, sorts) for part in operands(formula)]
        return value_of(formula[0], formula[-1] or self.logic, weights(formula), formula[-2], values)

    def rows(self, variables: Sequence[str], sorts: dict[str, str]) -> Iterator[dict[str, str]]:
        """Every assignment."""
        for row in itertools.product(*(self.domains[sorts[v]] for v in variables)):
            yield dict(zip(variables, row, strict=True))

    def instances(self, formula: Formula, sorts: dict[str, str], strip: bool = True) -> list[float]:
        """The values of a statement's instances, without its leading ``forall`` if asked."""
        while strip and formula[0] == "forall":
            formula = formula[2]
        return [self(formula, env, sorts) for env in self.rows(free_variables(formula), sorts)]


def place_of(atom: Formula, env: dict[str, str]) -> tuple[str, tuple[str, ...]]:
    """The ground atom."""
    return atom[1], tuple(env[text] if kind == "var" else text for kind, text in atom[2])


# --- the generator ----------------------------------------------------------------------------------------------------


def generate(
    seed: int,
    size: int = 4,
    mode: str = "fuzzy",
    equal: float = 0.0,
    ground: float = 0.0,
    few: float = 0.0,
    linked: float = 0.0,
) -> Generated:
    """A valid program with about ``size`` statements. A share of ``equal`` and some more of its literals are equalities
    of entities, a share of ``ground`` quantifiers without free variables instead, one of ``few`` quantifiers that speak
    of one variable around them at most, with others within; a share of ``linked`` statements are rules from an
    ``exists`` or to a ``forall`` whose literals link its variable to the others."""
    for attempt in range(100):
        try:
            rng = random.Random(f"{seed} {size} {mode} {attempt}")
            return _Generator(rng, size, mode, equal, ground, few, linked).build(seed)
        except (ProgramError, _Retry):
            continue
    raise AssertionError(f"no valid program for seed {seed}")


class _Retry(Exception):
    pass


@dataclass
class _Generator:
    rng: random.Random
    size: int
    mode: str
    equal: float
    ground: float
    few: float = 0.0
    linked: float = 0.0
    pool: list[Formula] = field(default_factory=list)  # subformulas to repeat
    taken: list[str] = field(default_factory=list)  # variables that a quantifier around binds

    def build(self, seed: int) -> Generated:
        rng = self.rng
        self.sorted = rng.random() < 0.4
        self.sort_names = ["person", "city"] if self.sorted and rng.random() < 0.5 else ["person"]
        if not self.sorted:
            self.sort_names = []
        people = list(ENTITIES["person" if self.sorted else "entity"][: rng.choice([1, 2, 2, 2, 3, 3, 4])])
        self.pool_of = {"person": people, "city": list(ENTITIES["city"][: rng.choice([1, 2])])}
        self.pool_of["entity"] = people + (self.pool_of["city"] if "city" in self.sort_names else [])
        self.logic = rng.choice(LOGICS)
        self.plain = rng.random() < 0.5  # a program of plain neurons: information flows further
        self.odd_logics = not self.plain and rng.random() < 0.5
        self._vocabulary()
        self._draw_world()
        facts = self._facts()
        statements = [self._statement() for _ in range(self.size)]
        statements += [self._definition(name) for name in self.layers for _ in range(rng.choice([1, 1, 2]))]
        rng.shuffle(statements)
        queries = [self._query(statements) for _ in range(rng.choice([2, 3, 4]))]
        program = Program(
            list(self.predicates.values()), facts, [Statement(*s) for s in statements], queries, {}, self.logic
        )
        used = {sort for p in program.predicates for sort in p.sorts or ()} - {"entity"}
        program.sorts = {sort: rng.random() < 0.2 for sort in sorted(used)}
        if rng.random() < 0.03:
            program.sorts["ghost"] = rng.random() < 0.5
        self._undeclare(program)
        network = Network(program)
        if not well_sorted(program, network):
            raise _Retry
        if self.mode == "free":
            self._free_truths(program)
            return Generated(program, None, seed, self.mode)
        return Generated(program, self._consistent_truths(program), seed, self.mode)

    # --- names --------------------------------------------------------------------------------------------------------

    def _vocabulary(self) -> None:
        """Open, closed and closed derived predicates; a derived one has a layer, and sees those of lower layers."""
        rng = self.rng
        self.predicates: dict[str, Predicate] = {}
        for i in range(rng.choice([3, 4, 5])):
            sorts = tuple(rng.choice([*self.sort_names, "entity"]) for _ in range(rng.choice([0, 1, 1, 1, 2, 2])))
            name = f"{'PQRST'[i]}{'rop' if not sorts else 'red'}"
            self.predicates[name] = Predicate(name, len(sorts), sorts, closed=rng.random() < 0.15)
        self.layers: dict[str, int] = {}
        for i in range(rng.choice([0, 0, 1, 1, 2])):
            sorts = tuple(rng.choice([*self.sort_names, "entity"]) for _ in range(rng.choice([1, 1, 2])))
            self.layers[f"Derived{i}"] = i
            self.predicates[f"Derived{i}"] = Predicate(f"Derived{i}", len(sorts), sorts, closed=True)

    def _undeclare(self, program: Program) -> None:
        """Takes away some declarations that the language can do without: a fact or a head supplies the predicate."""
        supplied = {fact.predicate for fact in program.facts}
        for i, p in enumerate(program.predicates):
            if p.name in supplied and not p.closed and self.rng.random() < 0.3:
                program.predicates[i] = Predicate(p.name, p.arity, None)

    def _entity(self, sort: str) -> str:
        return self.rng.choice(self.pool_of[sort])

    # --- formulas -----------------------------------------------------------------------------------------------------

    def _atom(self, scope: list[str], among: list[str] | None = None) -> Formula:
        """An atom over variables in scope; a constant where none fits, and now and then."""
        p = self.predicates[self.rng.choice(among or list(self.predicates))]
        arguments = []
        for sort in p.sorts or ():
            fitting = [v for v in scope if sort in ("entity", SORT_OF[v])]
            if fitting and self.rng.random() < 0.9:
                arguments.append(("var", self.rng.choice(fitting)))
            else:
                arguments.append(("const", self._entity(sort)))
        return "atom", p.name, tuple(arguments)

    def _literal(self, scope: list[str], among: list[str] | None = None) -> Formula:
        rng = self.rng
        if self.equal and scope and rng.random() < self.equal:
            return self._equality(scope, denied=0.4)
        if self.ground and scope and rng.random() < self.ground:
            return self._quantified(rng.choice(QUANTIFIERS), [], 1, among)
        if self.few and scope and len(self.taken) < 3 and rng.random() < self.few:
            return self._quantified(rng.choice(QUANTIFIERS), rng.sample(scope, rng.choice([0, 1])), 2, among)
        atom = self._atom(scope, among)
        chance = rng.random()
        if chance < 0.03:
            return (rng.choice(["true", "false"]),)
        if chance < 0.09 and len(scope) > 0:
            return self._equality(scope, denied=0.7)
        return ("not", atom) if chance > 0.75 else atom

    def _equality(self, scope: list[str], denied: float) -> Formula:
        rng, first = self.rng, self.rng.choice(scope)
        others = [("var", v) for v in scope if SORT_OF[v] == SORT_OF[first] and v != first]
        equal = ("eq", ("var", first), rng.choice([*others, *others, ("const", self._entity(SORT_OF[first]))]))
        return ("not", equal) if rng.random() < denied else equal

    def _weight(self) -> float:
        return 1.0 if self.plain or self.rng.random() < 0.6 else self.rng.choice([0.0, 0.5, 0.5, 2.0, 0.3, 0.7])

    def _connect(self, kind: str, parts: list[Formula]) -> Formula:
        logic = self.rng.choice(LOGICS) if self.odd_logics and self.rng.random() < 0.4 else None
        bias = 1.0
        if kind not in ("iff", "xor") or (logic or self.logic) == "lukasiewicz":
            bias = 1.0 if self.plain or self.rng.random() < 0.7 else self.rng.choice([0.5, 0.8, 1.2, 1.5])
        weighted = tuple((self._weight(), part) for part in parts)
        return (kind, weighted, bias, logic) if kind in ("and", "or") else (kind, *weighted, bias, logic)

    def _quantified(self, kind: str, scope: list[str], depth: int, among: list[str] | None = None) -> Formula:
        """Over one or two new variables that its body uses, listed by first mention."""
        sorts = [*self.sort_names, "entity"] if self.sorted else ["entity"]
        new: list[str] = []
        for _ in range(1 if self.rng.random() < 0.75 else 2):
            names = [v for v in BOUND[self.rng.choice(sorts)] if v not in self.taken and v not in new]
            new += names[:1]
        self.taken += new
        inner = [*scope[-1:], *new] if self.rng.random() < 0.7 else new
        body: Formula = ("true",)
        bound: tuple[str, ...] = ()
        for _ in range(10):
            body = self._formula(inner, depth - 1, among)
            bound = tuple(v for v in free_variables(body) if v in new)
            if bound and _placed(body, bound):
                break
        else:
            kind = ""
        del self.taken[len(self.taken) - len(new) :]
        return (kind, bound, body) if kind else self._literal(scope, among)

    def _formula(self, scope: list[str], depth: int, among: list[str] | None = None) -> Formula:
        rng = self.rng
        if depth <= 0 or rng.random() < 0.2:
            return self._literal(scope, among)
        if self.pool and among is None and rng.random() < 0.3:
            repeated = self._repeat(scope)
            if repeated is not None:
                return repeated
        kind = rng.choice(["and", "and", "or", "or", "implies", "iff", "xor", "not", "forall", "exists", "exists"])
        if kind == "not":
            return "not", self._formula(scope, depth - 1, among)
        if kind in QUANTIFIERS:
            return self._quantified(kind, scope, depth, among)
        count = rng.choice([2, 2, 2, 3]) if kind in ("and", "or") else 2
        formula = self._connect(kind, [self._formula(scope, depth - 1, among) for _ in range(count)])
        if among is None:
            self.pool.append(formula)
        return formula

    def _repeat(self, scope: list[str]) -> Formula | None:
        """An earlier subformula with its variables renamed to those in scope, mostly apart; None if none fit."""
        formula, names = self.rng.choice(self.pool), {}
        for v in free_variables(formula):
            fitting = [u for u in scope if SORT_OF[u] == SORT_OF[v]]
            fitting = [u for u in fitting if u not in names.values()] or fitting
            if not fitting:
                return None
            names[v] = self.rng.choice(fitting)
        bound = {v for f in subformulas(formula) if f[0] in QUANTIFIERS for v in f[1]}
        if bound & {*self.taken, *names.values()}:
            return None
        return rename(formula, names)

    # --- statements ---------------------------------------------------------------------------------------------------

    def _scope(self) -> list[str]:
        groups = [*self.sort_names, "entity"] if self.sorted else ["entity"]
        names = [v for group in groups for v in FREE[group][:2]]
        return self.rng.sample(names, min(len(names), self.rng.choice([1, 1, 2, 2, 3])))

    def _statement(self) -> tuple[str, Formula]:
        """A rule or an axiom: mostly shapes through which information flows, some arbitrary formulas."""
        rng, scope = self.rng, self._scope()
        kind = rng.choice(["rule", "rule", "axiom"])
        plain = [name for name in self.predicates if name not in self.layers]
        for _ in range(20):
            shape = rng.random()
            if self.linked and rng.random() < self.linked:
                formula = self._linked(scope, plain)
            elif shape < 0.45:
                count = rng.choice([1, 2, 2, 3])
                body = [self._literal(scope) if rng.random() < 0.7 else self._formula(scope, 1) for _ in range(count)]
                left = body[0] if count == 1 else self._connect(rng.choice(["and", "and", "and", "or"]), body)
                formula = self._connect("implies", [left, self._head(scope, plain)])
            elif shape < 0.6:
                parts = [self._formula(scope, 1) for _ in range(rng.choice([2, 2, 3]))]
                formula = self._connect("or" if len(parts) > 2 else rng.choice(["or", "or", "iff", "xor"]), parts)
            elif shape < 0.7:
                parts = [self._literal(scope) for _ in range(2)]
                both = self._connect("and", parts)
                formula = ("not", both) if rng.random() < 0.5 else self._connect("implies", [both, ("false",)])
            elif shape < 0.85:
                formula = self._quantified(rng.choice(["exists", "forall"]), scope[:1], 2)
                if rng.random() < 0.5:
                    formula = self._connect("implies", [formula, self._head(scope, plain)][:: rng.choice([1, -1])])
            else:
                formula = self._formula(scope, 2)
            if rng.random() < 0.25:
                formula = self._close(formula)
            if formula[0] not in ("true", "false", "eq") and self._acceptable(formula) and self._telling(formula):
                self.pool += [f for f in subformulas(formula) if f[0] in NEURONS][:3]
                return kind, formula
        raise _Retry

    def _linked(self, scope: list[str], heads: list[str], among: list[str] | None = None) -> Formula:
        """A rule from an ``exists`` or to a ``forall``, of one to three literals that mention its variable."""
        rng = self.rng
        new = rng.choice(BOUND[rng.choice([*self.sort_names, "entity"] if self.sorted else ["entity"])])
        inner = [*scope[-2:], new]
        links = [self._atom(inner, among)] + [
            self._literal([rng.choice(inner), new], among) for _ in range(rng.choice([0, 1, 1, 2]))
        ]
        body = links[0] if len(links) == 1 else self._connect("and", links)
        if not any(new in free_variables(link) for link in links):
            return ("true",)
        if among is None and rng.random() < 0.3:
            whole: Formula = ("forall", (new,), self._connect("implies", [body, self._head(inner, heads)]))
            return whole if rng.random() < 0.3 else self._connect("implies", [self._literal(scope, among), whole])
        part: Formula = ("exists", (new,), body)
        if among is None and rng.random() < 0.2:
            return "not", self._connect("and", [part, self._literal(scope)])
        rest = [self._literal(scope, among) for _ in range(rng.choice([0, 0, 1]))]
        left = (
            self._connect(rng.choice(["and", "and", "or"]) if among is None else "and", [part, *rest]) if rest else part
        )
        return self._connect("implies", [left, self._head(scope, heads) if among is None else self._atom(scope, heads)])

    def _head(self, scope: list[str], among: list[str]) -> Formula:
        chance = self.rng.random()
        if chance < 0.65:
            return self._atom(scope, among)
        if chance < 0.8:
            return "not", self._atom(scope)
        if chance < 0.95:
            return self._connect("and", [self._atom(scope, among), self._literal(scope, among)])
        return self._formula(scope, 1)

    def _close(self, formula: Formula) -> Formula:
        """A leading ``forall`` over some of the free variables."""
        bound = tuple(v for v in free_variables(formula) if self.rng.random() < 0.7)
        return ("forall", bound, formula) if bound and _placed(formula, bound) else formula

    def _acceptable(self, formula: Formula) -> bool:
        """Every variable stands in an atom; closed heads stand among literals only."""
        if not _placed(formula, free_variables(formula)) or not _names_apart(formula):
            return False
        while formula[0] == "forall":
            formula = formula[2]
        if formula[0] != "implies":
            return True
        conjuncts = _conjuncts(formula[2][1])
        closed = [c for c in conjuncts if c[0] == "atom" and self.predicates[c[1]].closed]
        return not closed or (all(_is_literal(c) for c in conjuncts) and len(set(conjuncts)) == len(conjuncts))

    def _telling(self, formula: Formula) -> bool:
        """Mostly: in the world as drawn it is bounded, and an implication has a true antecedent somewhere."""
        if self.mode == "free" or self.rng.random() < 0.15:
            return True
        truth = Truth(self.logic, self.world, self.pool_of)
        values = truth.instances(formula, SORT_OF)
        if min(values) < 0.5 and max(truth.instances(formula, SORT_OF, strip=False)) > 0.5:
            return False
        while formula[0] == "forall":
            formula = formula[2]
        if formula[0] != "implies":
            return True
        rows = list(truth.rows(free_variables(formula), SORT_OF))
        return any(truth(formula[1][1], row, SORT_OF) > 0.5 for row in rows)

    def _definition(self, name: str) -> tuple[str, Formula]:
        """A defining rule: lower layers with any sign, the own layer only as a positive conjunct."""
        rng, scope = self.rng, self._scope()
        below = [p for p in self.predicates if self.layers.get(p, -1) < self.layers[name]]
        for _ in range(20):
            if self.linked and rng.random() < self.linked:
                formula = self._linked(scope, [name], [*below, name])
                free = free_variables(formula)
                apart = formula[0] == "implies" and _placed(formula, free) and _names_apart(formula)
                if apart and {*free_variables(formula[2][1])} <= {*free_variables(formula[1][1])}:
                    return "rule", formula
                continue
            head = self._atom(scope, [name])
            body = [self._formula(scope, 1, below) if rng.random() < 0.3 else self._literal(scope, below)]
            if rng.random() < 0.6:
                body.append(self._literal(scope, below))
            if rng.random() < 0.4:
                body.append(self._atom(scope, [name]))
            if rng.random() < 0.2:
                other = self._literal(scope, [p for p in below if not self.predicates[p].closed] or [name])
                if other != head:
                    head = self._connect("and", [head, other][:: rng.choice([1, -1])])
            left = body[0] if len(body) == 1 else self._connect("and", body)
            formula = self._connect("implies", [left, head])
            placed = _placed(formula, free_variables(formula)) and _names_apart(formula)
            if placed and {*free_variables(head)} <= {*free_variables(left)}:
                return "rule", (self._close(formula) if rng.random() < 0.2 else formula)
        raise _Retry

    def _query(self, statements: list[tuple[str, Formula]]) -> Formula:
        rng, scope = self.rng, self._scope()
        for _ in range(20):
            chance = rng.random()
            if chance < 0.35:
                query = self._atom(scope)
            elif chance < 0.5:
                query = self._atom([])
            elif chance < 0.7:
                parts = [f for _, s in statements for f in subformulas(s) if f[0] in NEURONS]
                query = rng.choice(parts) if parts else self._atom(scope)
            elif chance < 0.8:
                query = "not", self._formula(scope, 1)
            else:
                query = self._formula(scope, 2)
            free = free_variables(query)
            valid = query[0] not in ("true", "false", "eq") and _placed(query, free) and _names_apart(query)
            if valid and len(free) < 3:
                return query
        raise _Retry

    # --- facts and truths ---------------------------------------------------------------------------------------------

    def _world_value(self) -> float:
        if self.mode == "crisp":
            return float(self.rng.random() < 0.5)
        if self.rng.random() < 0.4:
            return float(self.rng.random() < 0.5)
        return self.rng.choice([0.25, 0.5, 0.75, self.rng.randrange(11) / 10, round(self.rng.random(), 3)])

    def _draw_world(self) -> None:
        """A value for each atom, and which atoms are listed; unlisted closed atoms are false, to be completed later."""
        self.world: World = {}
        self.listed = set()
        for p in self.predicates.values():
            share = 0.1 if p.name in self.layers else self.rng.choice([0.1, 0.3, 0.5, 0.7])
            for row in itertools.product(*(self.pool_of[sort] for sort in p.sorts or ())):
                if self.rng.random() < share:
                    self.listed.add((p.name, row))
                known = not p.closed or (p.name, row) in self.listed
                self.world[p.name, row] = self._world_value() if known else 0.0

    def _facts(self) -> list[Fact]:
        """The listed atoms, each around its value; now and then twice."""
        facts = []
        for place, value in self.world.items():
            if place in self.listed:
                facts.append(Fact(*place, *self._around(value)))
                if self.rng.random() < 0.03:
                    again = self._world_value() if self.mode == "free" else value
                    facts.append(Fact(*place, *self._around(again)))
        return facts

    def _around(self, value: float) -> Box:
        """Mostly the point itself, else an interval around it."""
        rng = self.rng
        if rng.random() < (0.9 if self.mode == "crisp" else 0.6):
            return value, value
        lower = rng.choice([value, 0.0, round(max(0.0, value - rng.random() / 2), 2)])
        upper = rng.choice([value, 1.0, round(min(1.0, value + rng.random() / 2), 2)])
        return min(lower, value), max(upper, value)

    def _free_truths(self, program: Program) -> None:
        rng = self.rng
        for i, (kind, formula, _, _) in enumerate(program.statements):
            lower, upper = rng.choice([(1.0, 1.0)] * 4 + [(0.8, 1.0), (0.5, 1.0), (0.9, 1.0), (0.2, 0.6), (0.0, 0.3)])
            program.statements[i] = Statement(kind, formula, lower, upper)

    def _consistent_truths(self, program: Program) -> World:
        """Draws the rest of the world, repairs it toward the rules, completes it, gives statements true intervals."""
        rng, network = self.rng, Network(program)
        world = self.world
        for p in program.predicates:
            domains = [network.sorts.domains[network.sorts.positions[p.name, i]] for i in range(p.arity)]
            for row in itertools.product(*domains):
                if (p.name, row) not in world:
                    world[p.name, row] = 0.0 if p.closed else self._world_value()
        fixed = {(f.predicate, f.arguments) for f in program.facts} | {k for k in world if k[0] in network.closed}
        truth = Truth(program.logic, world, network.sorts.domains)
        goals = {rule.index: rng.choice([1.0, 1.0, 1.0, 0.8, 0.5]) for rule in network.rules}
        while not self._complete(network, truth, goals):
            pass
        self._repair(network, truth, goals, fixed)
        while not self._complete(network, truth, goals):
            pass
        for rule in network.rules:
            kind, formula, _, _ = program.statements[rule.index]
            interval = self._interval(truth, rule, bind_apart(formula), goals)
            program.statements[rule.index] = Statement(kind, formula, *interval)
        return world

    def _interval(self, truth: Truth, rule: Rule, formula: Formula, goals: dict[int, float]) -> Box:
        """An interval that holds the statement's values; a defining one keeps the truth that completed the world."""
        if rule.heads:
            return goals[rule.index], 1.0
        values = truth.instances(formula, rule.root.sorts)
        lower = min(values, default=1.0)
        if lower >= 0.05 or not values:
            return (lower if self.rng.random() < 0.5 else math.floor(lower * 100) / 100), 1.0
        whole = truth.instances(formula, rule.root.sorts, strip=False)
        upper = max(whole)
        return min(whole), (upper if self.rng.random() < 0.5 else min(1.0, math.ceil(upper * 100) / 100))

    def _repair(
        self, network: Network, truth: Truth, goals: dict[int, float], fixed: set[tuple[str, tuple[str, ...]]]
    ) -> None:
        """Moves atoms that heads mention until implications hold; the intervals come later, so it need not succeed."""
        for _ in range(3):
            for rule in network.rules:
                formula = rule.root.formula
                if formula[0] != "implies":
                    continue
                for env in truth.rows(rule.free, rule.root.sorts):
                    for conjunct in _conjuncts(formula[2][1]):
                        atom = conjunct[1] if conjunct[0] == "not" else conjunct
                        place = atom[0] == "atom" and place_of(atom, env)
                        if not place or place in fixed or truth(formula, env, rule.root.sorts) >= goals[rule.index]:
                            continue
                        truth.world[place] = 0.0 if conjunct[0] == "not" else 1.0

    def _complete(self, network: Network, truth: Truth, goals: dict[int, float]) -> bool:
        """Closed derived predicates of the world, stratum by stratum: the least values that satisfy the definitions.

        If a definition fails in the completed world (another conjunct, a listed head), it is given up: its truth
        becomes 0, and completion starts again.
        """
        world = truth.world
        for names in network.strata:
            places = [p for p in world if p[0] in names and p not in network.listed]
            world.update(dict.fromkeys(places, 0.0))
            clauses = [
                (rule, env, atom, place_of(atom, env))
                for rule in network.rules
                for atom in rule.heads
                if atom[1] in names
                for env in truth.rows(rule.free, rule.root.sorts)
            ]
            for _ in range(30):
                changed = False
                for rule, env, atom, place in clauses:
                    if place not in network.listed:
                        needed = self._needed(truth, rule.root.formula, env, rule.root.sorts, atom, goals[rule.index])
                        if needed > world[place] + 1e-12:
                            world[place], changed = needed, True
                if not changed:
                    break
            else:
                raise _Retry  # it creeps
        for rule in network.rules:
            if rule.heads and goals[rule.index] > 0:
                lowest = min(truth.instances(rule.root.formula, rule.root.sorts), default=1.0)
                if lowest < goals[rule.index] - 1e-10:
                    goals[rule.index] = 0.0
                    return False
        return True

    def _needed(
        self, truth: Truth, formula: Formula, env: dict[str, str], sorts: dict[str, str], atom: Formula, goal: float
    ) -> float:
        """The least truth of ``atom`` with which the implication can reach ``goal``, by bisection."""
        antecedent = truth(formula[1][1], env, sorts)
        logic = formula[-1] or truth.logic

        def head(f: Formula, value: float) -> float:
            if f[0] == "and" and atom in _conjuncts(f):
                parts = [head(part, value) for part in operands(f)]
                return value_of("and", f[-1] or truth.logic, weights(f), f[-2], parts)
            return value if f == atom else 0.0 if f == ("false",) else 1.0

        def holds(value: float) -> bool:
            whole = value_of("implies", logic, weights(formula), formula[-2], [antecedent, head(formula[2][1], value)])
            return whole >= goal - 1e-13

        if holds(0.0) or not holds(1.0):
            return 0.0
        low, high = 0.0, 1.0
        for _ in range(45):
            middle = (low + high) / 2
            low, high = (low, middle) if holds(middle) else (middle, high)
        near = round(high, 6)
        return near if abs(near - high) < 1e-10 and holds(near) else high


def _conjuncts(formula: Formula) -> list[Formula]:
    if formula[0] == "and":
        return [c for part in operands(formula) for c in _conjuncts(part)]
    return [formula]


def _is_literal(formula: Formula) -> bool:
    return formula[0] == "atom" or formula[0] in ("true", "false") or (formula[0] == "not" and _is_literal(formula[1]))


def _names_apart(formula: Formula, outside: frozenset[str] = frozenset()) -> bool:
    """No name is bound and free, or bound within its own reach."""
    if formula[0] in QUANTIFIERS and outside & {*formula[1]}:
        return False
    inside = outside | {*free_variables(formula)} | ({*formula[1]} if formula[0] in QUANTIFIERS else set())
    return all(_names_apart(part, inside) for part in operands(formula))


def _placed(formula: Formula, variables: tuple[str, ...]) -> bool:
    """Each of the variables stands in an atom, not in equalities alone."""
    return {*variables} <= {t for f in subformulas(formula) if f[0] == "atom" for k, t in f[2] if k == "var"}


def well_sorted(program: Program, network: Network) -> bool:
    """Small enough, and the sorts would be the same if queries joined positions as statements do."""
    atoms = sum(
        math.prod(len(network.sorts.domains[network.sorts.positions[p.name, i]]) for i in range(p.arity))
        for p in program.predicates
    )
    instances = sum(
        math.prod(len(network.sorts.domains[rule.root.sorts[v]]) for v in rule.free) for rule in network.rules
    )
    joined = Program(
        program.predicates,
        program.facts,
        [*program.statements, *(Statement("rule", q) for q in program.queries)],
        [],
        program.sorts,
    )
    try:
        same = Network(joined).sorts.positions == network.sorts.positions
    except ProgramError:
        return False
    return same and atoms <= 150 and instances <= 250


# --- text -------------------------------------------------------------------------------------------------------------


def to_text(program: Program) -> str:
    """The program as ``.lnn``: every nested compound in parentheses, attributes only where they are not the default."""
    lines = [f"logic {program.logic}"]
    lines += [f"sort {name}{' open' if is_open else ''}" for name, is_open in program.sorts.items()]
    for p in program.predicates:
        if p.sorts is not None:
            kind = "number" if p.numeric else "predicate"
            lines.append(f"{kind} {p.name}{group(p.sorts)}{' closed' if p.closed else ''}")
    numeric = {p.name for p in program.predicates if p.numeric}
    for fact in program.facts:
        lines.append(_numeric_fact(fact) if fact.predicate in numeric else _fact(fact))
    for i, s in enumerate(program.statements):
        name = f"s{i}: " if i % 2 == 0 else ""
        lines.append(f"{s.kind} {name}{formula_text(s.formula)}{_interval_text(s.lower, s.upper)}")
    lines += [f"query {formula_text(query)}" for query in program.queries]
    return "\n".join(lines) + "\n"


def _fact(fact: Fact) -> str:
    atom = f"{fact.predicate}{group(fact.arguments)}"
    if (fact.lower, fact.upper) == (0.0, 0.0):
        return f"fact ~{atom}"
    if fact.lower == fact.upper and fact.lower < 1:
        return f"fact {atom} = {fact.lower!r}"
    return f"fact {atom}{_interval_text(fact.lower, fact.upper)}"


def _numeric_fact(fact: Fact) -> str:
    value = f"in [{fact.lower!r}, {fact.upper!r}]" if fact.lower < fact.upper else f"= {number_text(fact.lower)}"
    return f"fact {fact.predicate}{group(fact.arguments)} {value}"


def _interval_text(lower: float, upper: float) -> str:
    return "" if (lower, upper) == (1.0, 1.0) else f" in [{lower!r}, {upper!r}]"


_SYMBOLS = {"and": " & ", "or": " | ", "implies": " -> ", "iff": " <-> ", "xor": " xor "}


def formula_text(formula: Formula, nested: bool = False) -> str:
    """A formula; ``nested`` puts a compound in parentheses, as attributes do."""
    chain = chain_text(formula, nested)
    if chain is not None:
        return chain
    if formula[0] in (*TERMS, *UNITS):
        return term_text(formula)
    match formula[0]:
        case "true" | "false":
            return formula[0]
        case "compare":
            return comparison_text(formula, nested)
        case "atom":
            return formula[1] + group(tuple(text for _, text in formula[2]))
        case "eq":
            return f"{formula[1][1]} = {formula[2][1]}"
        case "not" if formula[1][0] == "eq":
            return f"{formula[1][1][1]} != {formula[1][2][1]}"
        case "not":
            return "~" + formula_text(formula[1], nested=True)
        case "forall" | "exists":
            text = f"{formula[0]} {', '.join(formula[1])}: {formula_text(formula[2], nested=True)}"
            return f"({text})" if nested else text
    parts = [
        formula_text(part, nested=True) + (f"@{w:g}" if w != 1 else "")
        for w, part in zip(weights(formula), operands(formula), strict=True)
    ]
    attributes = [f"bias: {formula[-2]:g}"] if formula[-2] != 1 else []
    attributes += [f"logic: {formula[-1]}"] if formula[-1] else []
    text = _SYMBOLS[formula[0]].join(parts)
    return f"({text}){{{', '.join(attributes)}}}" if attributes else f"({text})" if nested else text
