"""Why an atom is no truer (or falser), as a value: the ways by which rules could change it, and what they lack. Selects
the ways to show, and verifies each: its premises are added to the facts, and the program is inferred again. Missing
premises of closed predicates are followed through rules, down to premises that only a fact can change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from itertools import chain

from lnnkit.answer_table import finite, format_bound
from lnnkit.check.program import Assertion
from lnnkit.explain.proof.explanation import RELATION, SIGNS, heading, statement_fields
from lnnkit.explain.proof.proof import BoundSide
from lnnkit.markup.pages import FoldingTree, TreeLine, TreePage
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic

_NAMED = 3  # facts that rule a premise out
_LISTED = 10  # ways shown, what a screen holds
_FOLLOWED = 100  # atoms, a limit of work: 30 ms each in a chain of 50 rules
_NEARLY = 1e-6  # the precision to which the improvement of premises is searched
_OPPOSITE = {"lower": RELATION["upper"], "upper": RELATION["lower"]}


@dataclass(frozen=True, slots=True)
class Missing:
    """A premise that an instance lacks: ``atom`` must be at least (``side`` lower) or at most ``needed``, and is
    ``now``; ``formula`` is its syntax. ``against`` is its other bound where that rules it out, ``because`` of these
    facts; it is ``unlisted`` where that is only the default of a closed predicate, which a fact would change, or a rule
    if it is ``derived``: ``through`` is such a rule and what it lacks. A ``contradictory`` premise reads as unknown
    until it is repaired. For a ``never_false`` one, no fact or statement can make its predicate false. ``numbers`` are
    the known bounds of the numbers in a comparison, ``gap`` is the distance of its sides, relative to the greater."""

    atom: str
    side: BoundSide
    now: float
    needed: float
    against: float | None = None
    contradictory: bool = False
    unlisted: bool = False
    never_false: bool = False
    numbers: tuple[str, ...] = ()
    gap: float = 0.0
    formula: ast.Expression | None = None
    derived: bool = False
    underived: bool = False  # its rules are still to be followed
    through: Way | None = None
    because: tuple[str, ...] = ()

    @property
    def lack(self) -> float:
        """The distance by which the bound would have to move."""
        return abs(self.needed - self.now)

    @property
    def excluded(self) -> bool:
        """Whether known bounds must be changed for it, not only added to."""
        return self.contradictory or (self.against is not None and not self.unlisted)

    @property
    def predicate(self) -> str | None:
        return self.formula.name if isinstance(self.formula, ast.Atom) else None

    def as_dict(self) -> dict[str, object]:
        plain = ("atom", "side", "now", "needed", "lack", "against", "contradictory", "unlisted", "never_false")
        through = None if self.through is None else self.through.proposal()
        lists = {"numbers": list(self.numbers), "because": list(self.because)}
        return {**{name: getattr(self, name) for name in plain}, **lists, "through": through}

    def tree(self, free: Sequence[str], relation: Mapping[str, str], shown: set[object]) -> Iterator[TreeLine]:
        """The premise, and beneath it what a rule that would derive it lacks, unless that is ``shown`` already."""
        if self.through is None:
            yield TreeLine("leaf", *self.parts(free, relation), side=self.side)
            return
        claim, inner = f"{self.atom} {relation[self.side]} {format_bound(self.needed)}", self.through
        key = (claim, *inner.beneath(relation, set()))
        if key in shown:
            yield TreeLine("leaf", claim, "as above", side=self.side)
            return
        shown.add(key)
        yield TreeLine("open", claim, f"by {inner.heading}", inner.statement.text, self.side, unfolded=True)
        yield from inner.beneath(relation, shown)
        yield TreeLine("close")

    def parts(self, free: Sequence[str], relation: Mapping[str, str]) -> tuple[str, str]:
        """The premise, variables that are ``free`` as ``some K``, and what is known of it."""
        atom = re.sub(rf"\b({'|'.join(map(re.escape, free))})\b(?!\()", r"some \1", self.atom) if free else self.atom
        met = {"lower": 1.0, "upper": 0.0}[self.side]
        if self.numbers and self.needed == met:
            plain = atom[1:-1] if atom.startswith("(") else atom  # without a bound beside it
            return plain if met else f"~{atom}", f"where {' and '.join(self.numbers)}"
        claim = f"{atom} {relation[self.side]} {format_bound(self.needed)}"
        return claim, f"now {format_bound(self.now)}, lacks {format_bound(self.lack)}{self._remark()}"

    def _remark(self) -> str:
        if self.contradictory:
            return "; it contradicts itself, and reads as unknown"
        if self.unlisted:
            rest = f"`{self.predicate}` is closed"
            if self.derived:
                rest = "its rules were followed no further" if self.underived else "no rule derives it"
            return f"; no fact lists it, and {rest}"
        if self.against is not None:
            named = [*self.because[:_NAMED], *(["…"] if len(self.because) > _NAMED else [])]
            because = f", from {', '.join(named)}" if named else ""
            return f"; but it is {_OPPOSITE[self.side]} {format_bound(self.against)}{because}"
        return "; nothing makes it false" if self.never_false else ""

    def __str__(self) -> str:
        return ", ".join(self.parts((), RELATION))


@dataclass(frozen=True, slots=True)
class Way:
    """An instance of a statement that gives the bound ``gives`` once all that is ``missing`` is added to the facts.
    Variables that are ``free`` may be anything. It is ``blocked`` if adding them is not enough: known bounds rule a
    premise out, a contradiction follows (``meets``), or the statement concludes no more with them. ``gives`` is then
    the bound that the statement would propose from such premises."""

    statement: Assertion
    bindings: Mapping[str, str]
    gives: float
    missing: Sequence[Missing]
    free: tuple[str, ...] = ()
    blocked: bool = False
    meets: str | None = None
    concludes: bool = True  # whether the atom is in its consequent

    @property
    def lacking(self) -> tuple[Missing, ...]:
        """What is missing in the end: instead of what rules would derive, what these lack."""
        lacking: dict[tuple[str, str], Missing] = {}
        for premise in self.missing:
            for one in (premise,) if premise.through is None else premise.through.lacking:
                known = lacking.setdefault((one.atom, one.side), one)
                lacking[one.atom, one.side] = max(known, one, key=lambda premise: premise.lack)
        return tuple(lacking.values())

    @property
    def excluded(self) -> bool:
        """Whether known bounds must be changed for it, not only added to."""
        return any(premise.excluded for premise in self.lacking)

    @property
    def depth(self) -> int:
        """The number of rules that derive premises, one for another."""
        return max((1 + premise.through.depth for premise in self.missing if premise.through is not None), default=0)

    @property
    def unbound(self) -> tuple[str, ...]:
        """The free variables of this way, and of the rules that its premises need."""
        inner = [premise.through.unbound for premise in self.missing if premise.through is not None]
        return tuple(dict.fromkeys((*self.free, *chain.from_iterable(inner))))

    @property
    def called(self) -> tuple[str, str]:
        """The kind and the name of the statement, and its place."""
        return heading(self.statement), self.statement.place

    @property
    def bound(self) -> str:
        """The values of the variables."""
        bound = [f"{name} = {value}" for name, value in self.bindings.items()]
        return ", ".join([*bound, *(f"some {name}" for name in self.free)])

    @property
    def heading(self) -> str:
        """The statement, its place and its bindings."""
        return ", ".join(self.called) + (f" ({self.bound})" if self.bound else "")

    def proposal(self) -> dict[str, object]:
        """The instance, what it gives and what it lacks, for JSON."""
        missing = [premise.as_dict() for premise in self.missing]
        instance = {"bindings": dict(self.bindings), "free": list(self.free), "gives": self.gives}
        return {**statement_fields(self.statement), **instance, "missing": missing}

    def as_dict(self) -> dict[str, object]:
        return {**self.proposal(), "blocked": self.blocked, "meets": self.meets}

    def would(self, relation: str) -> str:
        gives = f"{relation} {format_bound(self.gives)}"
        return f"would need, to give {gives}," if self.blocked else f"would give {gives} with"

    def beneath(self, relation: Mapping[str, str], shown: set[object]) -> Iterator[TreeLine]:
        """What is missing, where derivations already ``shown`` are referred to; and why that is not enough."""
        yield from (line for premise in self.missing for line in premise.tree(self.free, relation, shown))
        if self.meets is not None:
            yield TreeLine("leaf", note=f"but that would contradict what is known: {self.meets}")
        elif self.blocked and not self.excluded:
            yield TreeLine("leaf", note="but adding that alone is not enough: the rule concludes no more with it")


@dataclass(frozen=True, slots=True)
class WhyNot(TreePage):
    """What could take one ``side`` of an atom from ``bound`` to ``goal``: ``ways``, the nearest one of each statement
    first, and ``more`` that are not listed. ``against`` is its other bound if no way leads further than that.
    ``warnings`` concern the question."""

    atom: str
    side: BoundSide
    bound: float
    goal: float
    ways: Sequence[Way]
    against: float | None = None
    warnings: tuple[Diagnostic, ...] = ()
    more: int = 0

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit explain --why-not --format json`` prints."""
        fields: dict[str, object] = {"atom": self.atom, "side": self.side, "bound": finite(self.bound)}
        fields |= {"goal": self.goal, "against": self.against, "ways": [way.as_dict() for way in self.ways]}
        return fields | {"more": self.more}

    def __str__(self) -> str:
        shown, lines = set[object](), [" ".join(self._title(RELATION)), *(f"  {line}" for line in self._above())]
        for way in self.ways:
            lines += ["", way.heading, f"  {way.would(RELATION[self.side])}"]
            depth = 1
            for line in way.beneath(RELATION, shown):
                depth -= line.kind == "close"
                said = f"- {line.claim}, {line.note}" if line.claim else line.note
                lines += [] if line.kind == "close" else [f"{'  ' * depth}{said}"]
                depth += line.kind == "open"
        below = self._below()
        return "\n".join([*lines, *(("", *below) if below else ())])

    __repr__ = __str__

    def _tree(self, depth: int | None = None) -> FoldingTree:
        return FoldingTree(*self._title(SIGNS), self._lines(), self._above(), self._below())

    def _lines(self) -> Iterator[TreeLine]:
        """The statements, each with its ways below it; the nearest way of each is unfolded."""
        shown: set[object] = set()
        for statement in {id(way.statement): way.statement for way in self.ways}.values():
            ways = [way for way in self.ways if way.statement is statement]
            yield TreeLine("open", *ways[0].called, statement.text, unfolded=True)
            for number, way in enumerate(ways):
                yield TreeLine("open", way.bound, way.would(SIGNS[self.side]), unfolded=number == 0)
                yield from way.beneath(SIGNS, shown)
                yield TreeLine("close")
            yield TreeLine("close")

    def _title(self, relation: Mapping[str, str]) -> tuple[str, str]:
        rest = ": nothing is missing" if self._met else f"; why not {format_bound(self.goal)}?"
        return self.atom, f"is {relation[self.side]} {format_bound(self.bound)}{rest}"

    @property
    def _met(self) -> bool:
        return self.bound >= self.goal if self.side == "lower" else self.bound <= self.goal

    def _above(self) -> list[str]:
        if self._met or self.against is None:
            return [] if self._met or self.ways else ["no statement could change that; only a fact"]
        other = f"{_OPPOSITE[self.side]} {format_bound(self.against)}"
        return [f"it is {other}: a statement that concludes more would contradict that"]

    def _below(self) -> list[str]:
        never = {premise.predicate: None for way in self.ways for premise in way.lacking if premise.never_false}
        said = [f"nothing makes `{name}` false: if its facts are complete, declare it `closed`" for name in never]
        return [*said, f"and {self.more:,} more"] if self.more else said


@dataclass(frozen=True, slots=True)
class Came:
    """The atom's bounds after some premises were added, and a contradiction that is new."""

    lower: float
    upper: float
    meets: str | None = None

    def reaches(self, way: Way, side: int) -> bool:
        """Whether these are the bounds that the way promises, without a new contradiction."""
        short = self.upper - way.gives if side else way.gives - self.lower
        return short <= _NEARLY and not self.contradicts

    @property
    def contradicts(self) -> bool:
        return self.meets is not None or self.lower > self.upper + _NEARLY


Added = Callable[[Way], "Came | None"]  # None if inference would exceed its budget


def chosen(ways: Sequence[Way], side: int, bound: float, added: Added, seconds: int) -> tuple[list[Way], int]:
    """The nearest way of each statement, then the nearest of the others, at most ``seconds``, and the number of those
    left out. If a statement's nearest way is ruled out, its nearest one that is not takes its place."""
    distinct = _first(sorted(ways, key=lambda way: (effort(way), way.depth)), _premises)
    ordered = _undominated(distinct)
    nearest = _first(ordered, lambda way: id(way.statement))
    not_excluded = _first([way for way in ordered if not way.excluded], lambda way: id(way.statement))
    others = _first([way for way in (*not_excluded, *ordered) if way not in nearest], _premises)
    parts = nearest[:_LISTED], others[: max(0, min(seconds, _LISTED - len(nearest)))]
    tried = [[_tried(way, side, bound, added) for way in part] for part in parts]
    shown = [way for part in tried for way in sorted(part, key=effort)]
    return shown, len(distinct) - len(shown)


def effort(way: Way) -> tuple[object, ...]:
    """The sort key: the number of missing premises, then the number that known bounds deny, by default or by facts."""
    lacking = way.lacking
    denied = sum(premise.against is not None or premise.contradictory for premise in lacking)
    unlisted = sum(premise.unlisted for premise in lacking)
    lack = sum(premise.lack for premise in lacking)
    gap = sum(premise.gap for premise in lacking)
    return (len(lacking), denied, unlisted, not way.concludes, lack, gap, way.blocked, way.statement.span.start)


def _premises(way: Way) -> object:
    return id(way.statement), frozenset(map(_atom, way.lacking))


def _undominated(ways: Sequence[Way]) -> list[Way]:
    """Without ways of a statement that lack all that a nearer one lacks, or are ruled out by all that rules a nearer
    one out; through rules that derive premises, only the nearest that lacks atoms of some predicates."""
    kept: list[tuple[Way, Set[object]]] = []
    for way in ways:
        lacks = {_atom(premise) for premise in way.lacking}
        alike = {(premise.predicate or premise.atom, premise.side) for premise in way.lacking} if way.depth else set()
        if not any(one.statement is way.statement and core <= lacks | alike for one, core in kept):
            kept.append((way, {_atom(premise) for premise in way.lacking if premise.excluded} or alike or lacks))
    return [way for way, _ in kept]


def _atom(missing: Missing) -> object:
    return missing.atom, missing.side, missing.needed


def _first(ways: Sequence[Way], key: Callable[[Way], object]) -> list[Way]:
    """The first way of each key."""
    first: dict[object, Way] = {}
    for way in ways:
        first.setdefault(key(way), way)
    return list(first.values())


def _tried(way: Way, side: int, bound: float, added: Added) -> Way:
    """The way with the bounds that inference gives."""
    if any(premise.contradictory for premise in way.lacking):
        return replace(way, blocked=True)
    came = added(way)
    if came is None or came.reaches(way, side):
        return way
    if came.contradicts:
        return replace(way, blocked=True, meets=None if way.excluded else came.meets)
    got = came.upper if side else came.lower
    gain = bound - got if side else got - bound
    return replace(way, gives=got) if gain > _NEARLY else replace(way, blocked=True)


def followed(ways: Sequence[Way], atom: str, deriving: Callable[[Missing], Sequence[Way]]) -> Iterator[Way]:
    """The ways to ``atom``, nearest first, each once for every choice of the rules that derive its premises. Where none
    is followed to its end within the limit, those that are not."""
    known: dict[tuple[str, float], Sequence[Way]] = {}
    queue = [(effort(way), number, way) for number, way in enumerate(ways)]
    heapify(queue)
    made, ended, waiting = 0, False, list[Way]()
    while queue:
        _, _, way = heappop(queue)
        premise = next((need for need in way.lacking if need.underived), None)
        if premise is None:
            ended = True
            yield way
            continue
        key = premise.atom, premise.needed
        if key not in known:
            if len(known) == _FOLLOWED:
                waiting.append(way)
                continue
            known[key] = deriving(premise)
        for one in _through(way, premise, known[key], frozenset({atom})):
            made -= 1  # of equally near ones the last first: down to an end, before others are begun
            heappush(queue, (effort(one), made, one))
    yield from () if ended else waiting


def _through(way: Way, premise: Missing, choices: Sequence[Way], path: frozenset[str]) -> list[Way]:
    """The way with each of the choices for a premise, wherever it occurs, that needs no atom on the ``path`` to it; if
    there is none, a fact must supply the premise."""
    ways = [way]
    for n, need in enumerate(way.missing):
        if need.through is not None:
            inner = [replace(need, through=one) for one in _through(need.through, premise, choices, path | {need.atom})]
        elif (need.atom, need.needed) == (premise.atom, premise.needed):
            ahead = path | {need.atom}
            fit = [one for one in choices if not any(other.atom in ahead for other in one.missing)]
            inner = [replace(need, through=one) for one in fit] or [replace(need, underived=False)]
        else:
            continue
        ways = [replace(one, missing=[*one.missing[:n], made, *one.missing[n + 1 :]]) for one in ways for made in inner]
    return ways
