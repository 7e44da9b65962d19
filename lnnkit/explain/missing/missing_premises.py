"""Finds why an atom's bound is no tighter: the instances that could tighten it, and the premises that they lack. Those
instances of a statement are tried that are nearest to firing: with the fewest literals that no existing atom satisfies;
of variables that only a derived atom would bind, by the rules that would derive it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from lnnkit.analysis.families import Polarity
from lnnkit.analysis.needs import Literal, variables
from lnnkit.check.program import Assertion
from lnnkit.explain.missing.unmet_premises import ExaminedInstance, ImprovablePremise, Improvement, known_numbers
from lnnkit.explain.missing.why_not import Added, Missing, Way, WhyNot, chosen, followed
from lnnkit.explain.proof.explanation import set_apart
from lnnkit.explain.proof.proof import SIDES, ground_key
from lnnkit.explain.provenance.bound_sources import Named
from lnnkit.explain.provenance.instance_view import InstanceViews, Substitution
from lnnkit.formula.unfolding import Block, Formula, Neuron, unfold
from lnnkit.graph.lifted import COMPARISON
from lnnkit.join.bindings import NOTHING, Bindings
from lnnkit.join.literal_join import Joins, Path
from lnnkit.logic.bounds import Bounds
from lnnkit.store.relations import FALSE
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression

# Limits of work, not of correctness: each way is verified by one inference, which takes long above _LARGE atoms.
# Ways by one instance, through other rows of its quantifiers: 1, 3 and 6 take 3.8, 9.2 and 13.3 s, and each finds more
_ALTERNATIVES = 3
_MANY, _FEW = 10, 2  # further ways of one statement, in programs below and above that size
_LARGE = 20_000  # atoms
# Rows of a quantifier that are tried first; all if these are not enough. 1 finds less; 3, 6 and 12 find the same ways
# in 5.0, 8.7 and 17.9 s (likewise)
_NEAREST = 3
# Limits of work; what they leave out are instances that lack more literals than those found.
_MOST = 200  # bindings of one subset of literals; 20 to 800 cost and find the same (benchmarks/question_constants.py)
_SUBSETS = 300  # subsets of literals: 23 literals have 277 with at most two missing
# Instances of one statement. For two atoms of a rule with five premises 2, 5, 10 and 20 take 1.2, 2.9, 5.7 and 9.9 s,
# and each finds more; 40 and 80 find no more (`python -m benchmarks.question_constants missing`)
_LOOKED_AT = 20
_FOLLOWED_AT = 5  # likewise, of a rule that derives a premise
_DENIED = 20  # instances that may make an atom true: each is evaluated some hundred times
_FOLLOWED_PATTERNS = 40  # derived atoms with unbound variables whose rules are searched for entities
_Patterns = dict[tuple[str, tuple[int | None, ...]], list[Sequence[int]]]  # a predicate, and entities or None


class MissingPremises:
    """Searches the statements in which an atom occurs."""

    def __init__(self, views: InstanceViews) -> None:
        self._run = run = views.sources.run
        self._grounding = run.grounding
        self._wording = views.sources.wording
        self._views = views
        self._eps = views.sources.eps
        shared = ((node, data) for node, data in run.plan.lifted.graph.nodes.items() if data["shared"])
        stated = ((node, {*data["sorts"]}) for node, data in shared if data["lower"] >= 1 or data["upper"] <= 0)
        # What is stated of unnamed individuals, nothing about its parts says
        certain = {node for node, sorts in stated if run.grounding.domain.open_sorts & sorts}
        whole = partial(unfold, run.plan.lifted, through_shared=True, through_comparisons=False, kept=certain)
        self._formulas = [whole(root) for root in run.plan.lifted.statements]

    def why_not(self, predicate: str, about: Sequence[str], side: int, goal: float, added: Added) -> WhyNot:
        """What could move one side of an atom to ``goal``, or as far as its other bound allows. For a closed predicate
        the default is no limit, but only rules that define it raise it. ``added`` infers with additional facts."""
        closed = side == 0 and self._run.plan.lifted.graph.nodes[predicate]["closed"]
        bound, other = (self._views.sources.reading(predicate, about, end).value for end in (side, 1 - side))
        ruled_out = not closed and (goal > other + self._eps if side == 0 else goal < other - self._eps)
        limit = other if ruled_out else goal
        atom = format_expression(self._wording.conclusion(predicate, about))
        if (bound >= goal) if side == 0 else (bound <= goal):
            return WhyNot(atom, SIDES[side], bound, goal, [])
        near = [
            way
            for formula in self._formulas
            for leaf in formula.leaves
            if formula.neurons[leaf].source == predicate and (leaf in formula.heads or not closed)
            for way in self._ways(formula, leaf, about, side, bound, limit, _LOOKED_AT)
            if all(premise.atom != atom for premise in way.missing)
        ]
        near += self._denying(predicate, about, limit) if side and self._derived(predicate) else []
        further = _FEW if len(self._grounding.atoms) > _LARGE else _MANY  # each takes one inference
        shown, more = chosen([*followed(near, atom, self._deriving)], side, bound, added, further)
        return WhyNot(atom, SIDES[side], bound, goal, shown, other if ruled_out else None, more=more)

    def _deriving(self, premise: Missing) -> list[Way]:
        """The ways to derive an atom of a closed predicate, by known entities if possible; or to keep rules from it."""
        key = ground_key(premise.formula)
        assert key is not None  # premises with variables are not followed
        if premise.side == "upper":
            return self._denying(*key, premise.needed)
        ways = [
            way
            for formula, leaf in self._heads(key[0])
            for way in self._ways(formula, leaf, key[1], 0, premise.now, premise.needed, _FOLLOWED_AT)
            if way.gives >= premise.needed - self._eps
        ]
        return [way for way in ways if not way.free] or ways

    def _denying(self, predicate: str, about: Sequence[str], goal: float) -> list[Way]:
        """What would keep the rules of a closed predicate from making an atom true: each instance that may. Nothing if
        one cannot be kept from it, or if they are too many."""
        index, tables = self._grounding.domain.index, self._grounding.atoms.tables
        ways: list[Way] = []
        for formula, head in self._heads(predicate):
            bindings = self._views.unified(formula, head, [index[argument] for argument in about])
            if bindings is None:
                continue
            raised = (formula.neurons[leaf] for leaf, end in _ends(formula, head, 1, completes=True) if end)
            literals = tuple(
                Literal(atom.source, atom.arguments, "upper")
                for atom in raised
                if not atom.block and tables[atom.source].default[1] == 0
            )
            for extended in self._joined(formula, literals, bindings):
                instance = self._examined(formula, head, 1, {**bindings, **extended}, completes=True)
                if len(ways) == _DENIED or instance.free:
                    return []
                view = instance.view
                if float(view.says(view.values(instance.reads), head, 0, 1)[0]) > goal + self._eps:
                    way = next(self._by_instance(instance, 1.0, goal), None)
                    if way is None or way.gives > goal + self._eps:
                        return []
                    ways.append(way)
        if not ways:
            return []
        shared = set.intersection(*({*way.bindings.items()} for way in ways))
        bindings = {name: entity for name, entity in ways[0].bindings.items() if (name, entity) in shared}
        missing = {premise.atom: premise for way in ways for premise in way.missing}
        return [replace(ways[0], bindings=bindings, missing=[*missing.values()])]

    def _ways(
        self, formula: Formula, leaf: int, about: Sequence[str], side: int, bound: float, goal: float, most: int
    ) -> Iterator[Way]:
        """The ways by at most so many instances of one statement, through one of its leaves."""
        bindings = self._views.unified(formula, leaf, [self._grounding.domain.index[argument] for argument in about])
        if bindings is None or formula.neurons[leaf].block:
            return
        for extended in self._instances(formula, leaf, side, bindings, {})[:most]:
            yield from self._by_instance(self._examined(formula, leaf, side, extended), bound, goal)

    def _examined(
        self, formula: Formula, leaf: int, side: int, bindings: Substitution, *, completes: bool = False
    ) -> ExaminedInstance:
        """The instance for these entities; a variable without one stands for a new entity, which is no other."""
        view, free = self._views.whole(formula, bindings), frozenset(formula.blocks[0].variables) - {*bindings}
        for index, neuron in enumerate(formula.neurons):
            if neuron.kind == "same" and free & {*neuron.arguments} and len({*neuron.arguments}) == 2:
                view.rows[index][:] = FALSE
        known: Named = {v: self._wording.names[entity] for v, entity in bindings.items()}
        view = replace(view, completes=completes)
        return _unsettled(ExaminedInstance(self._views, view, leaf, side, known, free))

    def _by_instance(self, instance: ExaminedInstance, bound: float, goal: float) -> Iterator[Way]:
        """The nearest way, and those through other rows of its quantifiers."""
        neurons, tightness = instance.view.formula.neurons, instance.tightness
        attempt = _attempt(instance, goal)
        for _ in range(_ALTERNATIVES):
            reach = min(attempt.best(), goal, key=tightness)
            if tightness(reach) - tightness(bound) <= self._eps:
                return
            least = attempt.least(reach, self._eps)
            yield self._way(instance, reach, least)
            inner = {id(premise) for premise, _ in least if neurons[premise.leaf].block}
            if not inner:
                return
            attempt = replace(attempt, wanted=[premise for premise in attempt.wanted if id(premise) not in inner])

    def _way(self, instance: ExaminedInstance, reach: float, least: Sequence[tuple[ImprovablePremise, float]]) -> Way:
        formula = instance.view.formula
        assert formula.root is not None and isinstance(formula.root.origin, Assertion)
        names = formula.root.variables
        said = {names[v]: str(entity) for v, entity in instance.known.items() if v < len(names)}
        written = sorted(least, key=lambda pair: pair[0].leaf)
        missing = [self._missing(instance, premise, needed) for premise, needed in written]
        mentioned = {v for premise, _ in least for v in formula.neurons[premise.leaf].arguments}
        free = tuple(names[v] for v in sorted(instance.free) if v < len(names) and v in mentioned)
        return Way(formula.root.origin, said, reach, missing, free, concludes=instance.target in formula.heads)

    def _missing(self, instance: ExaminedInstance, wanted: ImprovablePremise, needed: float) -> Missing:
        formula, side = instance.view.formula, wanted.side
        source, about = formula.neurons[wanted.leaf].source, self._wording.pattern(formula, wanted.leaf, wanted.named)
        missing = self._wording.conclusion(source, about)
        excluded = needed > wanted.other + self._eps if side == 0 else needed < wanted.other - self._eps
        row = np.array([self._views.sources.find(source, about)])
        default = excluded and bool(instance.unlisted(source, side, row)[0])
        data, ground = self._run.plan.lifted.graph.nodes.get(source, {}), all(isinstance(a, str) for a in about)
        open_ = side == 1 and isinstance(missing, ast.Atom) and not data.get("closed")
        never_false = open_ and (source, "upper") not in self._run.plan.relevance.produced
        numbers = known_numbers(self._views.sources, source, about) if data.get("kind") == COMPARISON and ground else ()
        derived = (default or side == 1) and self._derived(source)
        atom, against = set_apart(missing, format_expression(missing)), wanted.other if excluded else None
        known = wanted.now, needed, against, wanted.arrested, default, never_false, numbers, wanted.gap
        return Missing(atom, SIDES[side], *known, missing, derived, underived=derived and ground)

    def _instances(
        self, formula: Formula, leaf: int, side: int, bindings: Substitution, met: _Patterns
    ) -> list[Substitution]:
        """The instances of a formula that are nearest to moving a leaf. Variables that only a derived closed atom would
        bind take the entities for which its rules are nearest; ``met`` has the rows of the patterns asked so far."""
        neurons = formula.neurons
        outer = [(atom, end) for atom, end in _ends(formula, leaf, side) if atom != leaf and not neurons[atom].block]
        literals = [Literal(neurons[atom].source, neurons[atom].arguments, SIDES[end]) for atom, end in outer]
        derived = [atom for atom, end in outer if end == 0 and self._derived(neurons[atom].source)]
        instances: dict[tuple[tuple[int, int], ...], Substitution] = {}
        for one in self._nearest(formula, literals, bindings)[:_LOOKED_AT]:
            filled = [{**one, **more} for atom in derived for more in self._filling(formula, atom, one, met)]
            instances |= {tuple(sorted(fill.items())): fill for fill in filled or [one]}
        return list(instances.values())

    def _derived(self, source: str) -> bool:
        """Whether it is a closed predicate that rules define."""
        return bool(self._run.plan.lifted.graph.nodes.get(source, {}).get("closed")) and bool(self._heads(source))

    def _heads(self, source: str) -> list[tuple[Formula, int]]:
        """The formulas that define a predicate, each with its head."""
        return [(rule, leaf) for rule in self._formulas for leaf in rule.heads if rule.neurons[leaf].source == source]

    def _filling(self, formula: Formula, leaf: int, bindings: Substitution, met: _Patterns) -> Iterator[Substitution]:
        """Entities for the unbound variables of a derived atom."""
        neuron, index = formula.neurons[leaf], self._grounding.domain.index
        terms = [index[term] if isinstance(term, str) else bindings.get(term) for term in neuron.arguments]
        pattern = neuron.source, tuple(terms)
        if None not in terms:
            return
        if pattern not in met and len(met) < _FOLLOWED_PATTERNS:
            met[pattern] = rows = []
            for rule, head in self._heads(neuron.source):
                known, arguments = self._views.unified(rule, head, terms), rule.neurons[head].arguments
                for one in [] if known is None else self._instances(rule, head, 0, known, met)[:_FOLLOWED_AT]:
                    entities = {**one, **{a: index[a] for a in arguments if isinstance(a, str)}}
                    row = [entities[argument] for argument in arguments if argument in entities]
                    rows += [row] if len(row) == len(arguments) else []
        fits = (self._views.unified(formula, leaf, row) for row in met.get(pattern, []))
        yield from (fit for fit in fits if fit is not None)

    def _nearest(self, formula: Formula, literals: Sequence[Literal], bindings: Substitution) -> list[Substitution]:
        """Distinct bindings that extend ``bindings``: those that satisfy all literals, then all but one, and so on
        until there are enough; fuller ones first, and those that lack one literal or another by turns."""
        # The others are satisfied by all bindings or by none
        generators = [atom for atom in literals if variables(atom.arguments) - {*bindings} and not self._informs(atom)]
        extended: dict[tuple[tuple[int, int], ...], None] = {}
        subsets = 0
        for left_out in range(len(generators)):
            if len(extended) >= _LOOKED_AT and left_out > 1:
                break
            joined: list[list[tuple[tuple[int, int], ...]]] = []
            for kept in itertools.combinations(generators, len(generators) - left_out):
                subsets += 1
                if subsets > _SUBSETS:
                    break
                extensions = self._joined(formula, kept, bindings)
                joined.append([tuple(sorted({**bindings, **one}.items())) for one in extensions])
            turns = [one for turn in itertools.zip_longest(*joined) for one in turn if one is not None]
            extended |= dict.fromkeys(sorted(turns, key=len, reverse=True))
        return [dict(items) for items in extended] or [dict(bindings)]

    def _informs(self, literal: Literal) -> bool:
        """Whether atoms that are not materialised satisfy the literal: those of a closed predicate, negated."""
        low, high = self._grounding.atoms.tables[literal.table].default
        return low > 0 if literal.column == "lower" else high < 1

    def _joined(self, formula: Formula, literals: tuple[Literal, ...], bindings: Substitution) -> list[Substitution]:
        """The first bindings that satisfy all literals, beyond ``bindings``."""
        named = dict.fromkeys(argument for literal in literals for argument in literal.arguments)
        wanted = [argument for argument in named if isinstance(argument, int) and argument not in bindings]
        free = replace(formula, blocks=(Block(-1, tuple(wanted), ()),))
        joins = Joins(free, self._grounding.atoms, self._grounding.domain, lambda _formula, _count: None, -1, None)
        ids = {variable: np.array([entity], np.int32) for variable, entity in bindings.items()}
        start = Bindings(1, NOTHING.bind(frozenset(ids)), ids)
        extended: list[Substitution] = []
        for part in joins.joined(start, joins.step(start.known, literals), Path(0)):
            columns = [part.column(variable)[:_MOST].tolist() for variable in wanted]
            extended += [dict(zip(wanted, row, strict=True)) for row in zip(*columns, strict=True)]
            if len(extended) >= _MOST:
                break
        return extended[:_MOST]


def _attempt(instance: ExaminedInstance, goal: float) -> Improvement:
    """The way by one instance. If an equivalence reads both ends of an operand, use all lower or all upper ones,
    whichever lead further; use only the nearest rows of quantifiers if they lead as far as all."""

    def tightness(attempt: Improvement) -> float:
        return instance.tightness(attempt.best())

    def through(nearest: int | None) -> Improvement:
        return max((Improvement(instance, instance.wanted(ends, nearest)) for ends in one_each), key=tightness)

    view = instance.view
    moved = dict.fromkeys(_ends(view.formula, instance.target, instance.side, completes=view.completes))
    both = {leaf for leaf, side in moved if (leaf, 1 - side) in moved}
    one_each = [[end for end in moved if end[0] not in both or end[1] == side] for side in (0, 1)]

    near = through(_NEAREST)
    far_enough = not instance.view.has_rows or tightness(near) >= instance.tightness(goal)
    return near if far_enough else max(near, through(None), key=tightness)


def _ends(formula: Formula, leaf: int, side: int, *, completes: bool = False) -> list[tuple[int, int]]:
    """The other leaves, each with its side, by which a formula moves one side of a leaf; if it ``completes`` the leaf,
    those by which its antecedent falls."""
    polarity = Polarity(formula)
    beneath = polarity.signs_beneath(formula.neurons[formula.top].operands[0]) if completes else {}
    reads = polarity.ends(beneath, upper=True) if completes else polarity.reads(leaf, SIDES[side])
    return [(read.leaf, int(read.end == "upper")) for read in reads]


def _settling(formula: Formula, moved: Sequence[tuple[int, int]]) -> dict[int, Neuron]:
    """By inner block, the quantifiers that these ends move against their rows: a ``forall`` up, an ``exists`` down."""
    polarity, settling = Polarity(formula), dict[int, Neuron]()
    for neuron in formula.neurons:
        if neuron.inner > 0:
            signs = polarity.signs_beneath(neuron.operands[0])
            rises = {(side == 0) == (signs[leaf] > 0) if signs[leaf] else None for leaf, side in moved if leaf in signs}
            if rises == {neuron.least}:
                settling[neuron.inner] = neuron
    return settling


def _unsettled(instance: ExaminedInstance) -> ExaminedInstance:
    """The instance without rows of quantifiers that change nothing: whose body is true for a ``forall`` to be raised,
    false for an ``exists`` to be lowered. One row of each quantifier stays, and those that read the target."""
    view, formula = instance.view, instance.view.formula
    if not view.has_rows:
        return instance
    ends = _ends(formula, instance.target, instance.side, completes=view.completes)
    settling = _settling(formula, ends)
    known = {leaf: view.tables[leaf].read(rows) for leaf, rows in view.rows.items()}
    values = view.upward({leaf: Bounds(*(end[None] for end in bounds)) for leaf, bounds in known.items()})

    def stay(block: int, group: np.ndarray) -> np.ndarray:
        """(n,) which rows of a block stay, by the ``group`` of each."""
        if block not in settling:
            return np.ones(len(group), bool)
        lower, upper = values[settling[block].operands[0]]
        stays = lower < 1 if settling[block].least else upper > 0
        for leaf in (leaf for leaf in view.rows if formula.block_of(leaf) == block):
            stays |= instance.of_target(leaf)
        stays[np.unique(group, return_index=True)[1]] = True  # the first row of each group
        return stays

    return replace(instance, view=view.with_rows(stay))
