"""A plan: a program compiled for its questions and a profile of its facts. It has no facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lnnkit.analysis.demand import Demand, Wanted
from lnnkit.analysis.needs import NeedFinder, Needs
from lnnkit.analysis.relevance import Reading, Relevance
from lnnkit.analysis.supports import Analyses, Analysis
from lnnkit.formula.unfolding import Formula, Modes
from lnnkit.graph.lifted import LiftedGraph, Reference
from lnnkit.store.relations import Schema

Demands = Mapping[str, tuple[str, tuple[int, ...]]]  # by relation: the predicate demanded, and the places bound


class SharedNeurons(NamedTuple):
    """``formulas`` define the shared neurons, operands first. ``impossible`` ones can have no value, since their
    statements contradict each other. ``unstated`` is the bound of each at the defaults, without any statement about
    it."""

    formulas: tuple[Formula, ...]
    impossible: tuple[str, ...]
    unstated: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Outline:
    """What does not depend on which facts there are: ``schemas`` of all relations by name, and ``readings`` of all
    statements and definitions of shared neurons, in canonical order. ``observers`` maps neurons without bounds of their
    own, of which queries are instances, to the relations that receive what formulas propose for them."""

    lifted: LiftedGraph
    schemas: Mapping[str, Schema]
    analyses: Analyses
    shared: SharedNeurons
    observers: Mapping[str, str]
    readings: tuple[Reading, ...]


class PlannedRule(NamedTuple):
    """A formula as a rule: its ``needs``, how the sides of its leaves are kept, its observed neurons, and the stratum
    that it completes (None: it responds in rounds)."""

    formula: Formula
    analysis: Analysis
    needs: Needs
    modes: Modes
    observers: Mapping[int, str]
    stage: frozenset[str] | None = None


@dataclass(frozen=True)
class Plan(Outline):
    """``rules`` respond in rounds, ``strata`` complete closed derived predicates, dependencies first. ``sizes`` are the
    numbers of entities of each sort, up to 2. Queries list the ``asked`` atoms. Relations are ``partly_known`` that are
    worked out only as far as others, or bound queries, need them: their ``demand`` has relations of its own,
    ``demands``, each with the predicate whose tuples it holds and the places that these fill. Of aggregates only some
    ``groups`` are wanted, which no inference adds to. ``moving`` are the relations that inference changes."""

    relevance: Relevance
    sizes: Mapping[str, int]
    asked: tuple[Reference, ...]
    rules: tuple[PlannedRule, ...] = ()
    strata: tuple[tuple[frozenset[str], tuple[PlannedRule, ...]], ...] = ()
    partly_known: frozenset[str] = frozenset()
    groups: Mapping[str, Wanted] = field(default_factory=dict)
    moving: frozenset[str] | None = None
    demand: Demand | None = None
    demands: Demands = field(default_factory=dict)

    def finder(self, formula: Formula, reading: Reading | None = None) -> NeedFinder:
        """What finds the formula's needs; without a reading, only those that do not depend on what it sends."""
        return NeedFinder(
            reading or Reading(formula, self.analyses.of(formula)), self.relevance, self.sizes, self.moving
        )
