"""Why an atom is not truer (or falser) than it is, as a value: the rules that could change it, and what they lack."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lnnkit.answer_table import finite
from lnnkit.check.program import Assertion
from lnnkit.explain.as_text import RELATION, format_bound
from lnnkit.explain.proof import Side
from lnnkit.syntax.diagnostic import Diagnostic


@dataclass(frozen=True, slots=True)
class Missing:
    """A premise that holds an instance back: ``atom`` would have to be at least (``side`` lower) or at most ``needed``,
    and is ``now``. ``against`` is its other bound where that rules it out. One that is ``contradictory`` reads as
    unknown until that is mended."""

    atom: str
    side: Side
    now: float
    needed: float
    against: float | None = None
    contradictory: bool = False

    @property
    def lack(self) -> float:
        """How far the bound would have to move."""
        return abs(self.needed - self.now)

    def as_dict(self) -> dict[str, object]:
        found: dict[str, object] = {"atom": self.atom, "side": self.side, "now": self.now, "needed": self.needed}
        return found | {"lack": self.lack, "against": self.against, "contradictory": self.contradictory}

    def __str__(self) -> str:
        relation = RELATION[self.side]
        excluded = ""
        if self.against is not None:
            other = RELATION["upper" if self.side == "lower" else "lower"]
            excluded = f"; but it is {other} {format_bound(self.against)}"
        if self.contradictory:
            excluded = "; it contradicts itself, and reads as unknown"
        lack = format_bound(self.lack)
        return (
            f"{self.atom} {relation} {format_bound(self.needed)}, now {format_bound(self.now)}, lacks {lack}{excluded}"
        )


@dataclass(frozen=True, slots=True)
class Way:
    """An instance of a statement that could give the bound ``gives``, if all that is ``missing`` were there. Variables
    that are not in ``bindings`` may be anything."""

    statement: Assertion
    bindings: Mapping[str, str]
    gives: float
    missing: Sequence[Missing]

    def as_dict(self) -> dict[str, object]:
        span = self.statement.span
        return {
            "rule": self.statement.name,
            "text": self.statement.text,
            "file": span.source.path,
            "line": span.line,
            "bindings": dict(self.bindings),
            "gives": self.gives,
            "missing": [each.as_dict() for each in self.missing],
        }


@dataclass(frozen=True, slots=True)
class WhyNot:
    """What could take one ``side`` of an atom from ``bound`` to ``goal``: ``ways``, those first that lack least.
    ``against`` is its other bound where that rules the goal out: they lead no further. ``warnings`` are those about
    what was asked."""

    atom: str
    side: Side
    bound: float
    goal: float
    ways: Sequence[Way]
    against: float | None = None
    warnings: tuple[Diagnostic, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit explain --why-not --format json`` prints."""
        found: dict[str, object] = {"atom": self.atom, "side": self.side, "bound": finite(self.bound)}
        return found | {"goal": self.goal, "against": self.against, "ways": [way.as_dict() for way in self.ways]}

    def lines(self) -> Iterator[str]:
        relation = RELATION[self.side]
        now = f"{self.atom} is {relation} {format_bound(self.bound)}"
        if self.bound >= self.goal if self.side == "lower" else self.bound <= self.goal:
            yield f"{now}: nothing is missing"
            return
        yield f"{now}; why not {format_bound(self.goal)}?"
        if self.against is not None:
            other = RELATION["upper" if self.side == "lower" else "lower"]
            yield f"  it is {other} {format_bound(self.against)}: what says more would contradict that"
        elif not self.ways:
            yield "  no statement could change that; only a fact"
        for way in self.ways:
            span = way.statement.span
            called = f"{way.statement.kind} {way.statement.name or ''}".rstrip()
            bindings = ", ".join(f"{name} = {value}" for name, value in way.bindings.items())
            yield ""
            yield f"{called}, {span.source.path}:{span.line}{f' ({bindings})' if bindings else ''}"
            yield f"  would give {relation} {format_bound(way.gives)} with"
            yield from (f"  - {each}" for each in way.missing)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"
