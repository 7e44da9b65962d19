"""The input of the rounds: grounding, state and schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lnnkit.analysis.needs import NeedFinder
from lnnkit.analysis.relevance import Reading, Relevance
from lnnkit.analysis.supports import Analyses
from lnnkit.engine.bounds_state import State
from lnnkit.formula.unfolding import Formula
from lnnkit.graph.lifted import LiftedGraph
from lnnkit.join.instances.grounding import Grounding


class SharedNeurons(NamedTuple):
    """``formulas`` define the shared neurons, operands first. ``impossible`` ones can have no value, since their
    statements contradict each other. ``untold`` is the bound of each at the defaults, without any statement about
    it."""

    formulas: tuple[Formula, ...]
    impossible: tuple[str, ...]
    untold: Mapping[str, tuple[float, float]]


@dataclass(slots=True, eq=False)
class Prepared:
    """What inference works on. ``inference`` are the members that rounds extend, ``strata`` those that complete each
    stratum of closed derived predicates; ``observers`` maps queried neurons to the tables that receive their bounds."""

    lifted: LiftedGraph
    grounding: Grounding
    state: State
    analyses: Analyses
    shared: SharedNeurons
    observers: Mapping[str, str]
    relevance: Relevance
    inference: list[int] = field(default_factory=list)
    strata: list[tuple[frozenset[str], list[int]]] = field(default_factory=list)
    partly_known: set[str] = field(default_factory=set)  # tables completed only as far as queries need them
    demands: dict[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)  # by table of what is needed of a
    # predicate: that, and the places whose entities it has
    unfinished: frozenset[str] = frozenset()  # predicates whose first completion was stopped: they are read as open

    def finder(self, formula: Formula, seen: Reading | None = None) -> NeedFinder:
        """What finds the formula's needs; without a reading, only those that do not depend on what it sends."""
        sizes = {sort: len(ids) for sort, ids in self.grounding.domain.sorts.items()}
        return NeedFinder(seen or Reading(formula, self.analyses.of(formula)), self.relevance, sizes)
