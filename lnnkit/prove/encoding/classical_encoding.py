"""Formulas as first-order logic for Z3.

An atom about named entities is a proposition. The unnamed individuals of open sorts are elements of a Z3 sort of their
own, so they are distinct from all named entities; atoms about them are functions on that sort.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

from lnnkit.numeric import Comparison
from lnnkit.prove.encoding.arithmetic_encoding import ArithmeticEncoding
from lnnkit.prove.ground.dependency_cone import Definition
from lnnkit.prove.ground.ground_reading import GroundReading, Instance
from lnnkit.prove.ground.known_values import Key
from lnnkit.prove.ground.parts import Assignment, Blanket, Part, Stated
from lnnkit.prove.ground.unfounded import Loop, antecedent
from lnnkit.prove.solving import Z3

Truth = bool | Z3
_MEMBER = "a "  # prefix of predicates for the sort of an individual


class ClassicalEncoding:
    """``folded``: known bounds from inference become constants; otherwise only closed-world defaults do."""

    def __init__(
        self, z3: Z3, context: Z3, reading: GroundReading, arithmetic: ArithmeticEncoding, *, folded: bool
    ) -> None:
        self.atoms: dict[Key, Z3] = {}
        self.closed: set[str] = set()  # closed predicates for which it was used that unlisted atoms are false
        self.loose = False  # whether a comparison was left open
        self.arithmetic = arithmetic
        self.z3 = z3
        self.context = context
        self._reading = reading
        self._known = reading.known
        self._folded = folded
        self._fresh = 0
        self._unnamed: Z3 | None = None
        self._functions: dict[tuple[str, tuple[str | None, ...]], Z3] = {}

    # --- formulas ---------------------------------------------------------------------------------------------------

    def truth(self, part: Part, bindings: Assignment) -> Truth:
        """The formula, as a proposition or a constant."""
        match part.kind:
            case "true" | "false":
                return part.kind == "true"
            case "same":
                return self._same(*part.arguments(bindings))
            case "atom":
                return self._atom(part, bindings)
            case "compare":
                return self._comparison(part, bindings)
            case "forall" | "exists":
                return self._quantifier(part, bindings)
        operands = [self.truth(each, bindings) for each in _present(part)]
        return self._connective(part.kind, operands)

    def within(self, part: Part, bindings: Assignment, lower: float, upper: float) -> Truth:
        """The constraint that a statement with this truth holds: it is true if the lower end is above 0, false if the
        upper end is below 1."""
        found = self.truth(part, bindings)
        if lower > 0 and upper < 1:
            return False
        return found if lower > 0 else self.negated(found) if upper < 1 else True

    def _everywhere(self, stated: Stated) -> Truth:
        """The constraint that a statement holds for all unnamed individuals in the sorts of its variables."""
        if stated.lower > 0 and stated.upper < 1:
            return False
        if not stated.variables or (stated.lower <= 0 and stated.upper >= 1):
            return True
        body = stated.part if stated.lower > 0 else Part("not", operands=(stated.part,))
        return self._connective("and", self._unnamed_rows(Part("forall", operands=(body,), bound=stated.variables), {}))

    def negated(self, truth: Truth) -> Truth:
        return not truth if isinstance(truth, bool) else self.z3.Not(truth)

    def atom(self, key: Key) -> Truth:
        """An atom about named entities."""
        box = self._known.box(key)
        if self._folded and box[0] == box[1]:
            return box[0] > 0
        if not self._folded and self._known.false_by_closure(key):
            self.closed.add(key[0])
            return False
        if key not in self.atoms:
            self.atoms[key] = self.z3.Bool(f"{key[0]}({', '.join(key[1])})", self.context)
        return self.atoms[key]

    def said(self, key: Key, end: int, value: float) -> Truth:
        """The constraint that an atom is true if its lower end (0) is above 0, or false if its upper end (1) is below
        1."""
        made = self.atom(key)
        if end == 0:
            return made if value > 0 else True
        return self.negated(made) if value < 1 else True

    def held(self, item: Instance | Definition | Loop | Blanket) -> Truth:
        """The constraint that an item holds: an instance of a statement, the definition of a completed atom, a loop
        formula, or a statement about unnamed individuals."""
        if isinstance(item, Blanket):
            return self._everywhere(item.stated)
        if isinstance(item, Instance):
            return self.within(item.stated.part, item.bindings, item.stated.lower, item.stated.upper)
        if isinstance(item, Definition):
            rules = [rule for rule, _ in item.rules if rule.stated.lower > 0]
            return self._connective("iff", [self.atom(item.key), self._supported(rules)])
        some = self._connective("or", [self.atom(key) for key in sorted(item.atoms)])
        return self._connective("implies", [some, self._supported(item.supports)])

    def _supported(self, rules: Sequence[Instance]) -> Truth:
        return self._connective("or", [self.truth(antecedent(rule), rule.bindings) for rule in rules])

    # --- kinds ------------------------------------------------------------------------------------------------------

    def _atom(self, part: Part, bindings: Assignment) -> Truth:
        key = self._reading.key(part, bindings)
        if key is not None:
            return self.atom(key)
        if self._known.program.predicates[part.name].closed:
            return False
        return self._applied(part, bindings)

    def _comparison(self, part: Part, bindings: Assignment) -> Truth:
        values = [self._number(operand, bindings) for operand in part.operands]
        unnamed = {
            str(each): each
            for operand in part.operands
            for each in operand.arguments(bindings)
            if not isinstance(each, str)
        }
        assert isinstance(part.arithmetic, Comparison)
        found = self.arithmetic.comparison(part.arithmetic, values, bound=bool(unnamed))
        if found is not None:
            return found
        self.loose = True
        self._fresh += 1
        return self._function((f"?comparison {self._fresh}", (None,) * len(unnamed)))(*unnamed.values())

    def _number(self, part: Part, bindings: Assignment) -> Fraction | Z3:
        key = self._reading.key(part, bindings)
        if key is not None:
            return self.arithmetic.number(key)
        return self._applied(part, bindings, self.arithmetic.sort(part.name))

    def _applied(self, part: Part, bindings: Assignment, result: Z3 | None = None) -> Z3:
        """An atom or a number about individuals, unnamed ones among them."""
        arguments = part.arguments(bindings)
        named = tuple(each if isinstance(each, str) else None for each in arguments)
        return self._function((part.name, named), result)(*(each for each in arguments if not isinstance(each, str)))

    def _same(self, one: object, other: object) -> Truth:
        if isinstance(one, str) or isinstance(other, str):
            return isinstance(one, str) and isinstance(other, str) and one == other
        return one == other

    def _quantifier(self, part: Part, bindings: Assignment) -> Truth:
        (body,) = part.operands
        kind = "and" if part.kind == "forall" else "or"
        stops = kind == "or"  # a row with this truth decides
        parts: list[Truth] = []
        for row in self._reading.rows(part, bindings):
            parts.append(self.truth(body, row))
            if parts[-1] is stops:
                return stops
        self._note_closed(part)
        return self._connective(kind, [*parts, *self._unnamed_rows(part, bindings)])

    def _unnamed_rows(self, part: Part, bindings: Assignment) -> list[Truth]:
        """The rows of a quantifier in which at least one of its variables is an unnamed individual."""
        (body,) = part.operands
        kind = "implies" if part.kind == "forall" else "and"
        found: list[Truth] = []
        for bound, inner in self._patterns(part, bindings):
            variables = [(name, sort) for name, sort in part.bound if any(inner[name] is each for each in bound)]
            members = self._members(variables, [inner[name] for name, _ in variables])
            joined = self._connective(kind, [members, self.truth(body, inner)])
            found.append(self._closed(part.kind, bound, joined))
        return found

    def _patterns(self, part: Part, bindings: Assignment) -> Iterator[tuple[list[Z3], dict[str, object]]]:
        """All ways to choose a non-empty set of variables as unnamed individuals, with named entities for the
        others."""
        free = [name for name, sort in part.bound if self._known.is_open(sort)]
        for chosen in range(1, 1 << len(free)):
            unnamed = [name for place, name in enumerate(free) if chosen >> place & 1]
            individuals = self._individuals(len(unnamed))
            inner: dict[str, object] = {**bindings, **dict(zip(unnamed, individuals, strict=True))}
            for row in self._products([each for each in part.bound if each[0] not in unnamed], inner):
                yield individuals, row

    def _products(self, rest: Sequence[tuple[str, str]], bindings: dict[str, object]) -> Iterator[dict[str, object]]:
        if not rest:
            yield bindings
            return
        (name, sort), *others = rest
        for entity in self._known.members(sort):
            yield from self._products(others, {**bindings, name: entity})

    def _note_closed(self, part: Part) -> None:
        """Note that rows which a closed predicate does not list are left out."""
        guards = {guard.name for guard in part.guards.get("body", ()) if guard.kind == "atom"}
        self.closed |= {name for name in guards if self._known.program.predicates[name].closed}

    def _connective(self, kind: str, x: Sequence[Truth]) -> Truth:
        z3 = self.z3
        match kind:
            case "not":
                return self.negated(x[0])
            case "and" | "or":
                decides = kind == "or"
                if any(each is decides for each in x):
                    return decides
                open_ones = [each for each in x if not isinstance(each, bool)]
                if len(open_ones) < 2:
                    return open_ones[0] if open_ones else not decides
                return z3.And(open_ones) if kind == "and" else z3.Or(open_ones)
            case "implies":
                return self._connective("or", [self.negated(x[0]), x[1]])
            case "xor":
                return self.negated(self._connective("iff", x))
        one, other = x
        if isinstance(one, bool):
            one, other = other, one
        if isinstance(other, bool):
            return (one == other) if isinstance(one, bool) else one if other else z3.Not(one)
        return one == other

    # --- unnamed individuals ----------------------------------------------------------------------------------------

    @property
    def unnamed(self) -> Z3 | None:
        """The Z3 sort of unnamed individuals; None if the encoding has none."""
        return self._unnamed

    def _individuals(self, count: int) -> list[Z3]:
        if not count:
            return []
        if self._unnamed is None:
            self._unnamed = self.z3.DeclareSort("unnamed", self.context)
        found = []
        for _ in range(count):
            self._fresh += 1
            found.append(self.z3.Const(f"someone {self._fresh}", self._unnamed))
        return found

    def true_of_unnamed(self, model: Z3, most: int) -> Iterator[tuple[str, float]]:
        """Up to ``most`` atoms about unnamed individuals that a model makes true; the individuals are numbered."""
        if self._unnamed is None:
            return
        numbered = {f"someone {n}": each for n, each in enumerate(model.get_universe(self._unnamed) or (), 1)}
        for (name, pattern), function in self._functions.items():
            places = [place for place, each in enumerate(pattern) if each is None]
            if name.startswith((_MEMBER, "?")) or function.range().kind() != self.z3.Z3_BOOL_SORT:
                continue
            for row in itertools.islice(itertools.product(numbered, repeat=len(places)), most):
                arguments = list(pattern)
                for place, each in zip(places, row, strict=True):
                    arguments[place] = each
                made = function(*(numbered[each] for each in row))
                if self.z3.is_true(model.eval(made, model_completion=True)):
                    yield f"{name}({', '.join(map(str, arguments))})", 1.0

    def _function(self, name: tuple[str, tuple[str | None, ...]], result: Z3 | None = None) -> Z3:
        if name not in self._functions:
            text = f"{name[0]}({', '.join(each or '_' for each in name[1])})"
            sorts = [self._unnamed] * name[1].count(None) + [
                self.z3.BoolSort(self.context) if result is None else result
            ]
            self._functions[name] = self.z3.Function(text, *sorts)
        return self._functions[name]

    def _members(self, variables: Sequence[tuple[str, str]], bound: Sequence[Z3]) -> Truth:
        """The constraint that the individuals belong to the sorts of their variables."""
        pairs = zip(variables, bound, strict=True)
        return self._connective(
            "and", [self._function((f"{_MEMBER}{sort}", (None,)))(each) for (_, sort), each in pairs]
        )

    def _closed(self, kind: str, bound: Sequence[Z3], body: Truth) -> Truth:
        if isinstance(body, bool):
            body = self.z3.BoolVal(body, self.context)
        return (self.z3.ForAll if kind == "forall" else self.z3.Exists)(list(bound), body)


def _present(part: Part) -> Sequence[Part]:
    """The operands with a positive weight."""
    if part.kind in ("and", "or") and part.weights:
        return [operand for operand, weight in zip(part.operands, part.weights, strict=True) if weight]
    return part.operands
