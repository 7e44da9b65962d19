"""Formulas as first-order logic for Z3: the graded encoding, over two truths.

An atom about named entities is a proposition. The unnamed individuals of open sorts are elements of a Z3 sort of their
own, so they are distinct from all named entities; atoms about them are functions on that sort.

In the lazy encoding the rows of quantifiers are added one by one. A quantifier becomes a proposition. A row that
decides it (a true row of an ``exists``) implies it; conversely it implies that one of the added rows decides it, or
``rest``: some row that has not been added. The solver assumes that ``rest`` is false. If this assumption is in its
unsatisfiable core, rows are added. A true row that has not been added becomes visible in the model. Rows over an open
sort are about unnamed individuals, one of them the quantifier's own. No statement compares unnamed individuals, so one
can stand for any other.

Before many rows are added, ``rest`` is equated with a row of *anyone*, an individual of which nothing is known. If that
is unsatisfiable, so is every row, and they need not be tested one by one (generalisation on constants).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce

from lnnkit.graph.lifted import LEAST
from lnnkit.prove.encoding.graded_encoding import Constraint, GradedEncoding, TruthValue
from lnnkit.prove.ground.ground_reading import GroundAtom, GroundReading
from lnnkit.prove.ground.parts import Assignment, BoundedStatement, Instance, Part
from lnnkit.prove.ground.relevant_instances import Loop, WorldReading
from lnnkit.prove.rational_terms import ZERO, Box
from lnnkit.prove.solving import Z3
from lnnkit.time_limit import check_time

EncodedRow = dict[str, object]
QuantifierPlace = tuple[int, tuple[object, ...]]
_MEMBER = "a "  # prefix of predicates for the sort of an individual
_GROWTH = 8  # of the number of rows that are added, each time; first one is


class ClassicalEncoding(GradedEncoding):
    """The encoding over two truths: constants are ``False`` and ``True``, other truths propositions. ``unnamed`` is the
    Z3 sort of unnamed individuals; None if there are none."""

    zero = False
    one = True

    def __init__(self, reading: GroundReading, whole: Collection[str] = (), *, folded: bool) -> None:
        super().__init__(reading, whole, folded=folded)
        self.unnamed: Z3 | None = None
        self._absent: frozenset[GroundAtom] = frozenset()  # atoms that are read as false
        self._functions: dict[tuple[str, tuple[str | None, ...]], Z3] = {}

    def held(self, item: Constraint) -> Z3 | bool:
        """The constraint that an item holds."""
        match item:
            case BoundedStatement():  # holds for all unnamed individuals in the sorts of its variables
                body = item.part if item.lower > 0 else Part("not", operands=(item.part,))
                return self._least(self._unnamed_rows(Part(LEAST, operands=(body,), bound=item.variables), {}))
            case Loop():
                some = self._greatest(self.atom(key) for key in sorted(item.atoms))
                self._absent = item.atoms
                supports = [self.truth(rule.antecedent, rule.bindings) for rule in item.rules]
                self._absent = frozenset()
                return self._greatest([self.negated(some), *supports])
        return super().held(item)

    def _limited(self, truth: TruthValue, end: int, value: float) -> Z3 | bool:
        """The constraint that it is true if the lower end (0) is above 0, or false if the upper (1) is below 1."""
        says = value < 1 if end else value > 0
        return self.beyond(truth, 1 - end, ZERO) if says else True

    def beyond(self, truth: TruthValue, end: int, limit: Fraction) -> Z3 | bool:
        """The constraint that it is false (0) or true (1)."""
        return truth if end else self.negated(truth)

    def _within(self, stated: BoundedStatement, bindings: Assignment) -> Z3 | bool:
        """The constraint that a statement is true if its lower end is 1, false if its upper end is 0."""
        return self.beyond(self.truth(stated.part, bindings), int(stated.lower > 0), ZERO)

    def _needed(self, rule: Instance) -> TruthValue:
        return self.truth(rule.antecedent, rule.bindings) if rule.stated.lower > 0 else False

    def atom(self, key: GroundAtom) -> TruthValue:
        return False if key in self._absent else super().atom(key)

    def negated(self, truth: TruthValue) -> TruthValue:
        return not truth if isinstance(truth, bool) else self.z3.Not(truth)

    def _settled(self, key: GroundAtom) -> TruthValue | None:
        low, high = self._known.box(key)
        return low > 0 if low == high else None

    def _variable(self, name: str, box: Box | None = None) -> Z3:
        return self.z3.Bool(name, self.context)

    def _crisp(self, holds: Z3 | bool) -> TruthValue:
        return holds

    def _unknown(self, part: Part, bindings: Assignment) -> TruthValue:
        arguments = [argument for operand in part.operands for argument in operand.arguments(bindings)]
        unnamed = {str(argument): argument for argument in arguments if not isinstance(argument, str)}
        return self._function((self._fresh_name("comparison"), (None,) * len(unnamed)))(*unnamed.values())

    def weighed(self, truth: TruthValue, value: Fraction | Z3) -> Fraction | Z3:
        if isinstance(truth, bool):
            return value if truth else ZERO
        return self.z3.If(truth, self.lifted(value), self.lifted(ZERO))

    def _mean(self, total: Fraction | Z3, weight: Fraction | Z3, count: int, there: list[Z3]) -> Fraction | Z3:
        """By cases, each of which is linear."""
        if isinstance(weight, Fraction):
            return super()._mean(total, weight, count, there)
        there.append(weight > 0)
        total = self.lifted(total)
        return reduce(lambda rest, n: self.z3.If(weight == n, total / n, rest), range(2, count + 1), total)

    def _compound(self, part: Part, bindings: Assignment) -> TruthValue:
        x = [self.truth(operand, bindings) for operand in part.operands]
        match part.kind:
            case "and":
                return self._least(x)
            case "or":
                return self._greatest(x)
            case "implies":
                return self._greatest([self.negated(x[0]), x[1]])
        return self._equal(*x)

    def _least(self, values: Iterable[TruthValue]) -> TruthValue:
        return self._joined(values, False, self.z3.And)

    def _greatest(self, values: Iterable[TruthValue]) -> TruthValue:
        return self._joined(values, True, self.z3.Or)

    def _joined(self, values: Iterable[TruthValue], decides: bool, join: Callable[[Sequence[Z3]], Z3]) -> TruthValue:
        x = list(values)
        if any(truth is decides for truth in x):
            return decides
        open_ones = [truth for truth in x if not isinstance(truth, bool)]
        if len(open_ones) < 2:
            return open_ones[0] if open_ones else not decides
        return join(open_ones)

    def _equal(self, one: TruthValue, other: TruthValue) -> TruthValue:
        if isinstance(one, bool):
            one, other = other, one
        if isinstance(other, bool):
            return one if other else self.negated(one)
        return one == other

    def _applied(self, part: Part, bindings: Assignment) -> Z3 | bool:
        numeric = self._known.program.predicates[part.name].numeric
        if not numeric and self._known.false_of_unnamed(part.name):
            return False
        arguments = part.arguments(bindings)
        named = tuple(term if isinstance(term, str) else None for term in arguments)
        function = self._function((part.name, named), self.sort(part.name) if numeric else None)
        return function(*(term for term in arguments if not isinstance(term, str)))

    def _unnamed_rows(self, part: Part, bindings: Assignment) -> list[TruthValue]:
        """The rows of a quantifier in which at least one of its variables is an unnamed individual."""
        forall, rows = part.least, []
        for names in subsets([name for name, sort in part.bound if self._known.is_open(sort)]):
            if self.unnamed is None:
                self.unnamed = self.z3.DeclareSort("unnamed", self.context)
            new = {name: self.z3.Const(self._fresh_name("someone"), self.unnamed) for name in names}
            members = [self._function((_MEMBER + sort, (None,)))(new[name]) for name, sort in part.bound if name in new]
            for row in self._named_rows(part, {**bindings, **new}):
                truth = self.truth(part.operands[0], row)
                if forall:
                    joined, quantifier = self._greatest([*map(self.negated, members), truth]), self.z3.ForAll
                else:
                    joined, quantifier = self._least([*members, truth]), self.z3.Exists
                rows.append(quantifier([*new.values()], self.lifted(joined)))
        return rows

    def _named_rows(self, part: Part, bindings: Assignment) -> Iterator[dict[str, object]]:
        """The rows of a quantifier with named entities for the variables that have no value yet."""
        rest = {name: self._known.members(sort) for name, sort in part.bound if name not in bindings}
        for row in itertools.product(*rest.values()):
            yield {**bindings, **dict(zip(rest, row, strict=True))}

    def true_of_unnamed(self, model: Z3, most: int) -> Iterator[tuple[str, float]]:
        """Up to ``most`` atoms about unnamed individuals that a model makes true; the individuals are numbered."""
        if self.unnamed is None:
            return
        numbered = {f"someone {n}": element for n, element in enumerate(model.get_universe(self.unnamed) or (), 1)}
        for (name, pattern), function in self._functions.items():
            if name.startswith((_MEMBER, "?")) or function.range().kind() != self.z3.Z3_BOOL_SORT:
                continue
            for row in itertools.islice(itertools.product(numbered, repeat=pattern.count(None)), most):
                made = function(*(numbered[someone] for someone in row))
                if self.z3.is_true(model.eval(made, model_completion=True)):
                    rest = iter(row)
                    yield f"{name}({', '.join(next(rest) if entity is None else entity for entity in pattern)})", 1.0

    def _function(self, name: tuple[str, tuple[str | None, ...]], result: Z3 | None = None) -> Z3:
        if name not in self._functions:
            text = f"{name[0]}({', '.join(entity or '_' for entity in name[1])})"
            range_ = self.z3.BoolSort(self.context) if result is None else result
            self._functions[name] = self.z3.Function(text, *[self.unnamed] * name[1].count(None), range_)
        return self._functions[name]


@dataclass(eq=False)
class Quantified:
    """A quantifier in a lazy encoding. ``some``: a row decides it. ``rest``: a row that has not been added decides it.
    Its rows: those ``added`` by the encoding, ``single`` ones that a model showed, and ``waiting`` ones, which
    ``anyone`` represents. If known bounds decide it (``decided``), a single one is the reason."""

    part: Part
    bindings: EncodedRow
    waiting: Iterator[EncodedRow] = field(default_factory=lambda: iter(()))
    decided: bool = False
    added: list[EncodedRow] = field(default_factory=list)
    single: list[EncodedRow] = field(default_factory=list)
    anyone: EncodedRow | None = None
    complete: bool = False
    some: Z3 = None
    rest: Z3 = None


class LazyEncoding(ClassicalEncoding):
    """``world`` is the model, ``replayed`` the quantifiers of another encoding whose rows are added again: settled
    bounds are then no constants."""

    def __init__(
        self,
        reading: GroundReading,
        whole: Collection[str],
        world: WorldReading,
        replayed: Mapping[QuantifierPlace, Quantified] | None = None,
    ) -> None:
        super().__init__(reading, whole, folded=replayed is None)
        self._replayed = replayed or {}
        self.quantified: dict[QuantifierPlace, Quantified] = {}
        self._world = world
        self._lower_world = WorldReading(reading)  # in the world of all lower ends
        self._people: dict[Part, EncodedRow] = {}
        self.existing: dict[str, Z3] = {}
        self.of_anyone: dict[GroundAtom, Z3] = {}  # atoms of which nothing is known

    def held(self, item: Constraint) -> Z3 | bool:
        constraint = super().held(item)
        if isinstance(item, Instance):
            return self._greatest([self.negated(self._there(item.bindings.values())), constraint])
        return constraint

    def exists(self, person: str) -> Z3:
        """The proposition that an unnamed individual exists."""
        return self.existing.setdefault(person, self.z3.Bool(f"there is {person}", self.context))

    def _quantifier(self, part: Part, bindings: Assignment) -> TruthValue:
        """The truth of a quantifier; its rows are encoded at once if folded, else when they are needed."""
        place = id(part), tuple(bindings[name] for name in sorted(part.variables))
        if place not in self.quantified:
            quantified = self._replayed.get(place) or self._begun(part, dict(bindings))
            constant = quantified.decided and self._folded
            some = None if constant else self.z3.Bool(self._fresh_name("some"), self.context)
            quantified = self.quantified[place] = replace(quantified, some=some, rest=some)
            if self._folded and not constant:
                self.expand(quantified)
            elif quantified.added or quantified.complete:
                self._encode(quantified, quantified.added)
            for row in () if self._folded else quantified.single:
                self._row(quantified, row)
        some = self.quantified[place].some
        if some is None:
            return not part.least
        return self.z3.Not(some) if part.least else some

    def _begun(self, part: Part, bindings: EncodedRow) -> Quantified:
        """A quantifier with a settled row that decides it, or with the rows that are waiting; none in a replay. None is
        settled that is about *anyone*."""
        plain = self._world.anyones.isdisjoint(map(str, bindings.values()))
        for row in self._lower_world.rows(part, bindings) if plain else ():
            check_time()
            low, high = self._known.truth(part.operands[0], row)
            if high <= 0 if part.least else low >= 1:
                return Quantified(part, bindings, decided=True, single=[row])
        return Quantified(part, bindings, self._candidates(part, bindings) if self._folded else iter(()))

    def atom(self, key: GroundAtom) -> TruthValue:
        if self._world.anyones.isdisjoint(key[1]):
            return super().atom(key)
        return self.of_anyone.setdefault(key, self.z3.Bool(f"{key[0]}({', '.join(key[1])})", self.context))

    def _same(self, one: object, other: object) -> TruthValue:
        """Whether two arguments may be equal: *anyone* may equal any entity."""
        sides = sorted(map(str, (one, other)))
        if one == other or self._world.anyones.isdisjoint(sides):
            return super()._same(one, other)
        return self.z3.Bool(f"?same {sides!r}", self.context)

    def expand(self, quantified: Quantified) -> None:
        """Add the next rows of a quantifier."""
        count = (_GROWTH - 1) * len(quantified.added) + 1
        turn = list(itertools.islice(quantified.waiting, count))
        quantified.complete = len(turn) < count
        quantified.added += turn
        self._encode(quantified, turn)

    def add(self, quantified: Quantified, row: EncodedRow) -> None:
        """Add a row that decides the quantifier in a model."""
        quantified.single.append(row)
        self._row(quantified, row)

    def generalise(self, quantified: Quantified) -> None:
        """Assert that the rows that have not been added are instances of *anyone*."""
        if quantified.anyone is None:
            anyone = {name: self._world.person(sort, anyone=True) for name, sort in quantified.part.bound}
            quantified.anyone = {**quantified.bindings, **anyone}
        if not self.z3.is_false(quantified.rest):
            row = self._row(quantified, quantified.anyone)
            self.asides.append(self.z3.Implies(quantified.rest, row))

    def lack(self, quantified: Quantified) -> Z3:
        """The proposition that a row which has not been added decides the quantifier."""
        anyone = quantified.anyone
        return quantified.rest if anyone is None else self.exists(str(anyone[quantified.part.bound[0][0]]))

    def _encode(self, quantified: Quantified, added: Sequence[EncodedRow]) -> None:
        before, truths = quantified.rest, [self._row(quantified, row) for row in added]
        if quantified.complete:
            quantified.rest = self.z3.BoolVal(False, self.context)
            self._note_closed(quantified.part)
        else:
            quantified.rest = self.z3.Bool(self._fresh_name("rest"), self.context)
        self.asides.append(self.z3.Implies(before, self._greatest([*truths, quantified.rest])))
        if quantified.anyone is not None:
            self.generalise(quantified)

    def _row(self, quantified: Quantified, row: EncodedRow) -> TruthValue:
        part, outer = quantified.part, quantified.bindings
        truth = self.truth(part.operands[0], row)
        if part.least:
            truth = self.negated(truth)
        truth = self._least([self._there(row[name] for name, _ in part.bound if name not in outer), truth])
        self.asides.append(self._greatest([self.negated(truth), quantified.some]))
        return truth

    def _there(self, entities: Iterable[object]) -> TruthValue:
        people = [name for name in dict.fromkeys(entities) if isinstance(name, str) and name in self._world.sort_of]
        return self._least(map(self.exists, people))

    def _candidates(self, part: Part, bindings: EncodedRow) -> Iterator[EncodedRow]:
        """The rows that may decide a quantifier, each once. *Anyone* is no individual of its own."""
        met: set[tuple[object, ...]] = set()
        for row in self._ordered(part, bindings):
            values = tuple(row[name] for name, _ in part.bound)
            if values not in met and self._world.anyones.isdisjoint(map(str, values)):
                met.add(values)
                yield row

    def _ordered(self, part: Part, bindings: EncodedRow) -> Iterator[EncodedRow]:
        """Rows of the world, of shared individuals, of its own ones, of entities with known atoms, of all entities. No
        atom about *anyone* is known, so what facts list leaves out no row that has one."""
        world, opens = self._world, {n: sort for n, sort in part.bound if self._known.is_open(sort)}
        named = {name: text for name, text in bindings.items() if isinstance(text, str) and text not in world.anyones}

        def people(names: Iterable[str]) -> EncodedRow:
            return {name: self._world.person(opens[name]) for name in names}

        for row in world.rows(part, bindings):
            check_time()
            low, high = world.truth(part.operands[0], row)
            if (1 - high if part.least else low) > 0:
                yield row
        if opens and part not in self._people:
            self._people[part] = people(opens)
        if len(opens) == len(part.bound):
            yield {**bindings, **self._people[part]}
            yield {**bindings, **people(opens)}
        for guard in part.row_guards:
            if guard.kind == "atom" and guard.variables & {name for name, _ in part.bound}:
                for assignment in self._lower_world.assignments(part.bound, named, [guard]):
                    yield {**bindings, **assignment}
        yield from ({**bindings, **row} for row in self._known.rows(part, named))
        for unnamed in subsets([*opens]):
            if len(unnamed) < len(part.bound):
                yield from self._named_rows(part, {**bindings, **people(unnamed)})


def subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The subsets that are not empty."""
    sizes = range(1, len(names) + 1)
    return itertools.chain.from_iterable(itertools.combinations(names, size) for size in sizes)
