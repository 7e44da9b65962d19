"""Why an atom is no truer (or falser), as a value: the rules that could change it, and what they lack."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from lnnkit.answer_table import finite
from lnnkit.check.program import Assertion
from lnnkit.explain.proof.proof import Side
from lnnkit.explain.render.proof_text import RELATION, format_bound
from lnnkit.markup.html_table import preformatted
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic

_NAMED = 3  # facts that rule a premise out


@dataclass(frozen=True, slots=True)
class Missing:
    """A premise that an instance lacks: ``atom`` must be at least (``side`` lower) or at most ``needed``, and is
    ``now``; ``formula`` is its syntax.

    ``against`` is its other bound where that rules it out, ``because`` of these facts; it is ``unlisted`` where that is
    only the default of a closed predicate, which a fact would change, or a rule if it is ``derived``: ``through`` is
    such a rule and what it lacks. A ``contradictory`` premise reads as unknown until it is repaired. For a
    ``never_false`` one, no fact or statement can make its predicate false. ``numbers`` are the known bounds of the
    numbers in a comparison, ``gap`` is the distance of its sides, relative to the greater.
    """

    atom: str
    side: Side
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
        found: dict[str, object] = {"atom": self.atom, "side": self.side, "now": self.now, "needed": self.needed}
        found |= {"lack": self.lack, "against": self.against, "contradictory": self.contradictory}
        found |= {"unlisted": self.unlisted, "never_false": self.never_false, "numbers": list(self.numbers)}
        through = None if self.through is None else self.through.proposal()
        return found | {"because": list(self.because), "through": through}

    def lines(self, free: Sequence[str], shown: set[str]) -> Iterator[str]:
        """The premise, and beneath it what a rule that would derive it lacks; what is ``shown`` already is referred
        to."""
        if self.through is None:
            yield f"- {self.text(free)}"
            return
        said = f"- {self.atom} {RELATION[self.side]} {format_bound(self.needed)}"
        beneath = [line for each in self.through.missing for line in each.lines(self.through.free, set())]
        key = "\n".join((said, *beneath))
        if key in shown:
            yield f"{said}, as above"
            return
        shown.add(key)
        yield f"{said}, by {self.through.heading}"
        yield from (f"  {line}" for each in self.through.missing for line in each.lines(self.through.free, shown))

    def text(self, free: Sequence[str] = ()) -> str:
        """The premise as text; variables that are ``free`` as ``some K``."""
        atom = re.sub(rf"\b({'|'.join(map(re.escape, free))})\b(?!\()", r"some \1", self.atom) if free else self.atom
        met = {"lower": 1.0, "upper": 0.0}[self.side]
        if self.numbers and self.needed == met:
            plain = atom[1:-1] if atom.startswith("(") else atom  # without a bound beside it
            return f"{plain if met else f'~{atom}'}, where {' and '.join(self.numbers)}"
        told = f"{atom} {RELATION[self.side]} {format_bound(self.needed)}, now {format_bound(self.now)}"
        return f"{told}, lacks {format_bound(self.lack)}{self._remark()}"

    def _remark(self) -> str:
        if self.contradictory:
            return "; it contradicts itself, and reads as unknown"
        if self.unlisted:
            rest = f"`{self.predicate}` is closed"
            if self.derived:
                rest = "its rules were followed no further" if self.underived else "no rule derives it"
            return f"; no fact lists it, and {rest}"
        if self.against is not None:
            other = RELATION["upper" if self.side == "lower" else "lower"]
            named = [*self.because[:_NAMED], *(["…"] if len(self.because) > _NAMED else [])]
            because = f", from {', '.join(named)}" if named else ""
            return f"; but it is {other} {format_bound(self.against)}{because}"
        if self.never_false:
            return "; nothing makes it false"
        return ""

    def __str__(self) -> str:
        return self.text()


@dataclass(frozen=True, slots=True)
class Way:
    """An instance of a statement that gives the bound ``gives`` once all that is ``missing`` is added to the facts.
    Variables that are ``free`` may be anything.

    It is ``blocked`` if adding them is not enough: known bounds rule a premise out, a contradiction follows
    (``meets``), or other premises of the statement change too. ``gives`` is then the bound that the statement would
    propose from such premises."""

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
        found: dict[tuple[str, str], Missing] = {}
        for each in self.missing:
            for one in (each,) if each.through is None else each.through.lacking:
                known = found.setdefault((one.atom, one.side), one)
                found[one.atom, one.side] = max(known, one, key=lambda each: each.lack)
        return tuple(found.values())

    @property
    def depth(self) -> int:
        """The number of rules that derive premises, one for another."""
        return max((1 + each.through.depth for each in self.missing if each.through is not None), default=0)

    @property
    def unbound(self) -> tuple[str, ...]:
        """The free variables of this way, and of the rules that its premises need."""
        inner = [each.through.unbound for each in self.missing if each.through is not None]
        return tuple(dict.fromkeys((*self.free, *chain.from_iterable(inner))))

    @property
    def heading(self) -> str:
        """The statement, its place and its bindings."""
        span = self.statement.span
        called = f"{self.statement.kind} {self.statement.name or ''}".rstrip()
        said = [
            *(f"{name} = {value}" for name, value in self.bindings.items()),
            *(f"some {each}" for each in self.free),
        ]
        return f"{called}, {span.source.path}:{span.line}" + (f" ({', '.join(said)})" if said else "")

    def proposal(self) -> dict[str, object]:
        """The instance, what it gives and what it lacks, for JSON."""
        span = self.statement.span
        return {
            "rule": self.statement.name,
            "text": self.statement.text,
            "file": span.source.path,
            "line": span.line,
            "bindings": dict(self.bindings),
            "free": list(self.free),
            "gives": self.gives,
            "missing": [each.as_dict() for each in self.missing],
        }

    def as_dict(self) -> dict[str, object]:
        return {**self.proposal(), "blocked": self.blocked, "meets": self.meets}

    def lines(self, relation: str, shown: set[str] | None = None) -> Iterator[str]:
        """The paragraph that is printed; derivations already ``shown`` are referred to."""
        shown = set() if shown is None else shown
        yield self.heading
        gives = f"{relation} {format_bound(self.gives)}"
        yield f"  would {'need, to give' if self.blocked else 'give'} {gives}{',' if self.blocked else ' with'}"
        yield from (f"  {line}" for each in self.missing for line in each.lines(self.free, shown))
        if self.meets is not None:
            yield f"  but that would contradict what is known: {self.meets}"
        elif self.blocked and not any(each.excluded for each in self.lacking):
            yield "  but adding that alone is not enough: it also changes other premises of the rule"


@dataclass(frozen=True, slots=True)
class WhyNot:
    """What could take one ``side`` of an atom from ``bound`` to ``goal``: ``ways``, the nearest one of each statement
    first; ``more`` were found but are not listed. ``against`` is its other bound if that rules the goal out: no way
    leads further. ``warnings`` are those about the question."""

    atom: str
    side: Side
    bound: float
    goal: float
    ways: Sequence[Way]
    against: float | None = None
    warnings: tuple[Diagnostic, ...] = ()
    more: int = 0

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit explain --why-not --format json`` prints."""
        found: dict[str, object] = {"atom": self.atom, "side": self.side, "bound": finite(self.bound)}
        found |= {"goal": self.goal, "against": self.against, "ways": [way.as_dict() for way in self.ways]}
        return found | {"more": self.more}

    def lines(self) -> Iterator[str]:
        relation = RELATION[self.side]
        now = f"{self.atom} is {relation} {format_bound(self.bound)}"
        if self.bound >= self.goal if self.side == "lower" else self.bound <= self.goal:
            yield f"{now}: nothing is missing"
            return
        yield f"{now}; why not {format_bound(self.goal)}?"
        if self.against is not None:
            other = RELATION["upper" if self.side == "lower" else "lower"]
            yield f"  it is {other} {format_bound(self.against)}: a statement that concludes more would contradict that"
        elif not self.ways:
            yield "  no statement could change that; only a fact"
        shown: set[str] = set()
        for way in self.ways:
            yield ""
            yield from way.lines(relation, shown)
        never = {each.predicate: None for way in self.ways for each in way.lacking if each.never_false}
        if never:
            yield ""
        for name in never:
            yield f"nothing makes `{name}` false: if its facts are complete, declare it `closed`"
        if self.more:
            yield ""
            yield f"and {self.more:,} more"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return preformatted(str(self))
