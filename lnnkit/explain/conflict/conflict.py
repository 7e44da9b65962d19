"""A contradiction with the facts and the statements that cause it, and its possible repairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from lnnkit.check.program import Assertion
from lnnkit.explain.conflict.conflict_members import Inconsistent, Member, StatedFact, StatedRule
from lnnkit.explain.conflict.repairs import Repair, repair, repairs_listed, with_others
from lnnkit.explain.proof.explanation import Explanation
from lnnkit.explain.proof.proof import Given
from lnnkit.explain.proof.quickxplain import minimal
from lnnkit.markup.html_table import Listing, Table, tables
from lnnkit.outcome import Contradiction


@dataclass(frozen=True)
class Conflict:
    """A contradiction. ``members`` are the facts and statements on which the derivations of both sides rest;
    closed-world defaults appear in the explanation only. ``minimal`` drops members that are not needed; ``repairs``
    ranks how members could be weakened, numbers by the share of their known range (``_range``, by name). ``_stated``
    gives all facts about an atom."""

    contradiction: Contradiction
    explanation: Explanation
    members: tuple[Member, ...]
    _inconsistent: Inconsistent = field(repr=False)
    _range: Callable[[str], float] = field(repr=False)
    _stated: Callable[[str, Sequence[str]], Sequence[Given]] = field(repr=False)
    is_minimal: bool = False

    @property
    def facts(self) -> tuple[StatedFact, ...]:
        return tuple(member for member in self.members if isinstance(member, StatedFact))

    @property
    def rules(self) -> tuple[Assertion, ...]:
        return tuple(member.statement for member in self.members if isinstance(member, StatedRule))

    def minimal(self) -> Conflict:
        """The conflict with a minimal set of members: each is dropped in turn and the rest inferred again."""
        if self.is_minimal or not self._inconsistent(self.members, None):
            return self
        kept = minimal(self.members, lambda some: self._inconsistent(some, None))
        return replace(self, members=tuple(kept), is_minimal=True)

    def repairs(self) -> Listing[Repair]:
        """For each member of the minimal conflict the least weakening that resolves it, cheapest first."""
        least = self.minimal()
        if not least.is_minimal:
            return repairs_listed([])
        found = [repair(least.members, member, self._inconsistent, self._range) for member in least.members]
        found = [with_others(each, self._stated) for each in found]
        return repairs_listed(sorted(found, key=lambda each: each.cost))

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit explain --format json`` prints for a contradiction."""
        return {
            "contradiction": self.contradiction.as_dict(),
            "minimal": self.is_minimal,
            "facts": [{"fact": f.given.text, "file": f.given.file, "row": f.given.row} for f in self.facts],
            "rules": [
                {"rule": r.name, "text": r.text, "file": r.span.source.path, "line": r.span.line} for r in self.rules
            ],
        }

    def lines(self) -> Iterator[str]:
        yield str(self.contradiction)
        yield from (f"  {member}" for member in self.members)

    def cells(self) -> list[str]:
        """The columns of a table: the contradiction and its members."""
        return [str(self.contradiction), "\n".join(map(str, self.members))]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        members = [each.parts for each in self.members]
        return tables(Table(str(self.contradiction), ["fact or rule", "at"], members, len(members)))
