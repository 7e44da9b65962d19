"""The instances of a statement that are nearest to firing: those with the fewest literals that no existing atom
satisfies; of variables that only a derived atom would bind, by the rules that would derive it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lnnkit.analysis.families import Polarity
from lnnkit.analysis.needs import Literal, variables
from lnnkit.explain.proof.proof import SIDES
from lnnkit.explain.provenance.instance_view import InstanceViews
from lnnkit.formula.unfolding import Block, Formula
from lnnkit.join.bindings import NOTHING, Bindings
from lnnkit.join.instances.grounding import Grounding
from lnnkit.join.literal_join import Joins, Path

# Limits of work; what they leave out are instances that lack more literals than those found.
_MOST = 200  # bindings of one subset of literals; 20 to 800 cost and find the same (benchmarks/question_constants.py)
_SUBSETS = 300  # subsets of literals: 23 literals have 277 with at most two missing
# Instances of one statement. For two atoms of a rule with five premises 2, 5, 10 and 20 take 1.2, 2.9, 5.7 and 9.9 s,
# and each finds more; 40 and 80 find no more (`python -m benchmarks.question_constants missing`)
LOOKED_AT = 20
FOLLOWED_AT = 5  # likewise, of a rule that derives a premise
_FOLLOWED_PATTERNS = 40  # derived atoms with unbound variables whose rules are searched for entities
AtomPattern = tuple[str, tuple[int | None, ...]]  # a predicate, and entities, None for any


class NearestInstances:
    """Searches instances of ``formulas``, those of all statements."""

    def __init__(self, views: InstanceViews, formulas: Sequence[Formula]) -> None:
        self._views = views
        self._grounding = views.sources.run.grounding
        self._nodes = views.sources.run.plan.lifted.graph.nodes
        self.formulas = formulas

    def of(
        self,
        formula: Formula,
        leaf: int,
        side: int,
        bindings: Mapping[int, int],
        met: dict[AtomPattern, list[Sequence[int]]],
    ) -> list[dict[int, int]]:
        """The instances of a formula that are nearest to moving a leaf. Variables that only a derived closed atom would
        bind take the entities for which its rules are nearest; ``met`` has the rows of the patterns asked so far."""
        neurons = formula.neurons
        outer = [(atom, end) for atom, end in ends(formula, leaf, side) if atom != leaf and not neurons[atom].block]
        literals = [Literal(neurons[atom].source, neurons[atom].arguments, SIDES[end]) for atom, end in outer]
        derived = [atom for atom, end in outer if end == 0 and self.derived(neurons[atom].source)]
        instances: dict[tuple[tuple[int, int], ...], dict[int, int]] = {}
        for one in _nearest(self._grounding, formula, literals, bindings)[:LOOKED_AT]:
            filled = [{**one, **more} for atom in derived for more in self._filling(formula, atom, one, met)]
            instances |= {tuple(sorted(fill.items())): fill for fill in filled or [one]}
        return list(instances.values())

    def derived(self, source: str) -> bool:
        """Whether it is a closed predicate that rules define."""
        return bool(self._nodes.get(source, {}).get("closed")) and bool(self.heads(source))

    def heads(self, source: str) -> list[tuple[Formula, int]]:
        """The formulas that define a predicate, each with its head."""
        return [(rule, leaf) for rule in self.formulas for leaf in rule.heads if rule.neurons[leaf].source == source]

    def _filling(
        self, formula: Formula, leaf: int, bindings: Mapping[int, int], met: dict[AtomPattern, list[Sequence[int]]]
    ) -> Iterator[dict[int, int]]:
        """Entities for the unbound variables of a derived atom."""
        neuron, index = formula.neurons[leaf], self._grounding.domain.index
        terms = [index[term] if isinstance(term, str) else bindings.get(term) for term in neuron.arguments]
        pattern = neuron.source, tuple(terms)
        if None not in terms:
            return
        if pattern not in met and len(met) < _FOLLOWED_PATTERNS:
            met[pattern] = rows = []
            for rule, head in self.heads(neuron.source):
                known, arguments = self._views.unified(rule, head, terms), rule.neurons[head].arguments
                for one in [] if known is None else self.of(rule, head, 0, known, met)[:FOLLOWED_AT]:
                    row = [
                        index[a] if isinstance(a, str) else one[a] for a in arguments if isinstance(a, str) or a in one
                    ]
                    rows += [row] if len(row) == len(arguments) else []
        for row in met.get(pattern, []):
            if (fit := self._views.unified(formula, leaf, row)) is not None:
                yield fit


def ends(formula: Formula, leaf: int, side: int) -> list[tuple[int, int]]:
    """The other leaves, each with its side, by which a formula moves one side of a leaf."""
    return [(read.leaf, int(read.end == "upper")) for read in Polarity(formula).reads(leaf, SIDES[side])]


def _nearest(
    grounding: Grounding, formula: Formula, literals: Sequence[Literal], bindings: Mapping[int, int]
) -> list[dict[int, int]]:
    """Distinct bindings of the formula's variables that extend ``bindings``: those that satisfy all literals, then all
    but one, and so on until there are enough; fuller ones first, and those that lack one literal and those that lack
    another by turns. Unbound variables are left out."""
    # The others are satisfied by all bindings or by none
    generators = [
        atom for atom in literals if not _informs(grounding, atom) and variables(atom.arguments) - {*bindings}
    ]
    extended: dict[tuple[tuple[int, int], ...], None] = {}
    subsets = 0
    for left_out in range(len(generators)):
        if len(extended) >= LOOKED_AT and left_out > 1:
            break
        joined: list[list[tuple[tuple[int, int], ...]]] = []
        for kept in itertools.combinations(generators, len(generators) - left_out):
            subsets += 1
            if subsets > _SUBSETS:
                break
            extensions = _joined(grounding, formula, kept, bindings)
            joined.append([tuple(sorted({**bindings, **one}.items())) for one in extensions])
        turns = [one for turn in itertools.zip_longest(*joined) for one in turn if one is not None]
        extended |= dict.fromkeys(sorted(turns, key=len, reverse=True))
    return [dict(items) for items in extended] or [dict(bindings)]


def _informs(grounding: Grounding, literal: Literal) -> bool:
    """Whether atoms that are not materialised satisfy the literal: those of a closed predicate, negated."""
    low, high = grounding.atoms.tables[literal.table].default
    return low > 0 if literal.column == "lower" else high < 1


def _joined(
    grounding: Grounding, formula: Formula, literals: tuple[Literal, ...], bindings: Mapping[int, int]
) -> list[dict[int, int]]:
    """The first bindings that satisfy all literals, beyond ``bindings``."""
    named = dict.fromkeys(argument for literal in literals for argument in literal.arguments)
    wanted = [argument for argument in named if isinstance(argument, int) and argument not in bindings]
    free = replace(formula, blocks=(Block(-1, tuple(wanted), ()),))
    joins = Joins(free, grounding.atoms, grounding.domain, lambda _formula, _count: None, -1, None)
    ids = {variable: np.array([entity], np.int32) for variable, entity in bindings.items()}
    start = Bindings(1, NOTHING.bind(frozenset(ids)), ids)
    extended: list[dict[int, int]] = []
    for part in joins.joined(start, joins.step(start.known, literals), Path(0)):
        columns = [part.column(variable)[:_MOST].tolist() for variable in wanted]
        extended += [dict(zip(wanted, row, strict=True)) for row in zip(*columns, strict=True)]
        if len(extended) >= _MOST:
            break
    return extended[:_MOST]
