"""Lifted graph + facts -> a grounding and a state that are ready for rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch

from lnnkit.graph.lifted import NEURONS, LiftedGraph, Reference, Root
from lnnkit.ground.atoms import AtomTable
from lnnkit.ground.batch import shape
from lnnkit.ground.evaluate import upward
from lnnkit.ground.formula import Formula, unfold
from lnnkit.ground.grounding import Grounding, Guard, leaf_modes
from lnnkit.ground.instances import Instances
from lnnkit.ground.join import Relation, join
from lnnkit.ground.layout import Given, domain, predicate_tables
from lnnkit.ground.needs import NeedFinder
from lnnkit.ground.relevance import ALL, DIRECTIONS, Reading, Relevance, Side, decide
from lnnkit.ground.supports import Analysis
from lnnkit.infer.state import State
from lnnkit.infer.sweep import reader, whole
from lnnkit.logic.bounds import tolerance


@dataclass(slots=True)
class Prepared:
    """What inference works on. ``inference`` are the members that rounds extend, ``strata`` those that complete each
    stratum of closed derived predicates; ``shared`` defines each shared neuron, operands first."""

    lifted: LiftedGraph
    grounding: Grounding
    state: State
    relevance: Relevance
    analyses: dict[object, Analysis]
    defaults: dict[str, tuple[float, float]]
    sizes: Mapping[str, int]
    kept: Mapping[str, bool]
    shared: tuple[Formula, ...]
    observers: Mapping[str, str]
    untold: Mapping[str, tuple[float, float]]  # shared neurons' values at the defaults, whatever statements say of them
    inference: list[Instances] = field(default_factory=list)
    strata: list[tuple[frozenset[str], list[Instances]]] = field(default_factory=list)

    def analysis(self, formula: Formula) -> Analysis:
        return _analysis(self.analyses, formula, self.defaults)

    def finder(self, formula: Formula, reading: Reading | None = None) -> NeedFinder:
        analysis = self.analysis(formula)
        reading = reading or Reading(formula, {d: () for d in DIRECTIONS}, {d: () for d in DIRECTIONS})
        return NeedFinder(analysis, reading, self.relevance, self.sizes)


def prepare(lifted: LiftedGraph, index: Mapping[str, int], given: Sequence[Given], guard: Guard) -> Prepared:
    """Lay out atoms, enter the facts, find out what matters and what to join. Nothing is inferred yet."""
    world = domain(lifted, index, given)
    sizes = {sort: len(ids) for sort, ids in world.sorts.items()}
    atoms = predicate_tables(lifted, world.generic + 2)
    state = State()
    grounding = Grounding(atoms, world, guard)
    defaults = {name: table.default for name, table in atoms.tables.items()}
    analyses: dict[object, Analysis] = {}
    shared, impossible, untold = _shared_tables(lifted, grounding, defaults, analyses)
    statements = [
        replace(unfold(lifted, root), key=_key(root, lifted))
        for root in lifted.statements
        if not lifted.graph.nodes[root.reference.node]["shared"]
    ]
    observers = _observer_tables(lifted, grounding, [*statements, *shared])
    state.extend(atoms)
    enter_facts(grounding, state, given)
    for node in impossible:
        _arrest_all(lifted, grounding, state, node, guard)
    asked = _ask(lifted, grounding, state)
    readings = [_reading(formula, analyses, defaults, observers) for formula in (*statements, *shared)]
    relevance = _relevance(lifted, grounding, readings, asked)
    kept = {
        name: name in lifted.closed_derived or any(relevance.mode(name, side) == ALL for side in ("lower", "upper"))
        for name in atoms.tables
    }
    prepared = Prepared(
        lifted, grounding, state, relevance, analyses, defaults, sizes, kept, tuple(shared), observers, untold
    )
    for reading in readings:
        prepared.inference.append(_enter(prepared, reading))
    for stratum in lifted.program.strata:
        prepared.strata.append((stratum, _stratum(prepared, stratum)))
    return prepared


def _key(root: Root, lifted: LiftedGraph) -> str:
    """A text that tells formulas apart and does not depend on where they stand."""
    origin = root.origin
    return f"{origin.span.text}"


def _analysis(
    analyses: dict[object, Analysis], formula: Formula, defaults: Mapping[str, tuple[float, float]]
) -> Analysis:
    auxiliary = defaults[formula.auxiliary] if formula.auxiliary is not None else None
    key = (
        shape(formula, {}, ()),
        auxiliary,
        tuple(defaults[formula.neurons[leaf].source] for leaf in formula.leaves),
    )
    if key not in analyses:
        analyses[key] = Analysis(formula, defaults)
    return analyses[key]


def _shared_tables(
    lifted: LiftedGraph,
    grounding: Grounding,
    defaults: dict[str, tuple[float, float]],
    analyses: dict[object, Analysis],
) -> tuple[list[Formula], list[str], dict[str, tuple[float, float]]]:
    """A table and a defining formula for each shared neuron, operands first; those that can have no value; and what
    all of them are at the defaults if no statement said anything of them."""
    formulas: list[Formula] = []
    impossible: list[str] = []
    untold: dict[str, tuple[float, float]] = {}
    for node, data in lifted.graph.nodes(data=True):
        if not data["shared"]:
            continue
        count = len(data["sorts"])
        reference = Reference(node, tuple(range(count)))
        names = tuple(f"X{i}" for i in range(count))
        origin = next(r.origin for r in lifted.statements)
        root = Root(reference, names, data["sorts"], data["lower"], data["upper"], origin)
        plain = _analysis(analyses, unfold(lifted, root, through_shared=True), defaults).default_values(-1)
        untold[node] = (min(low for low, _ in plain), max(high for _, high in plain))
        defaults[node] = (0.0, 1.0)
        if data["lower"] > data["upper"] + tolerance(torch.float64):  # its statements contradict each other
            grounding.atoms.add_table(node, data["sorts"], defaults[node]).predictable = False
            impossible.append(node)
            continue
        formula = replace(unfold(lifted, root, auxiliary=node), key=f"\0{node}")
        values = _analysis(analyses, formula, defaults).default_values(len(formula.neurons) - 1)
        lower = max(min(low for low, _ in values), data["lower"])
        upper = min(max(high for _, high in values), data["upper"])
        if lower > upper + tolerance(torch.float64):
            lower, upper = data["lower"], data["upper"]
        defaults[node] = (min(lower, upper), max(lower, upper))
        grounding.atoms.add_table(node, data["sorts"], defaults[node]).predictable = False
        formulas.append(formula)
    return formulas, impossible, untold


def _arrest_all(lifted: LiftedGraph, grounding: Grounding, state: State, node: str, guard: Guard) -> None:
    """Arrest a shared neuron everywhere: the truths that its statements give it have no value in common."""
    data = lifted.graph.nodes[node]
    root = next(root for root in lifted.statements if root.reference.node == node)
    formula = unfold(lifted, root)
    columns = [Relation((i,), (ids := grounding.domain.sorts[sort],), len(ids)) for i, sort in enumerate(data["sorts"])]
    rows = join(columns, lambda count: guard(formula, count))
    ordered = [rows.columns[rows.variables.index(i)] for i in range(len(columns))]
    numbers = grounding.atoms.materialise(grounding.atoms.tables[node], ordered, rows.length)
    state.extend(grounding.atoms)
    state.lower.values[numbers] = data["lower"]
    state.upper.values[numbers] = data["upper"]
    grounding.atoms.enlist(state.arrest(numbers))


def _observer_tables(lifted: LiftedGraph, grounding: Grounding, formulas: Sequence[Formula]) -> dict[str, str]:
    """A table that hears, for each queried neuron that keeps no bounds, what the program's formulas say of it."""
    graph = lifted.graph
    met = {neuron.source for formula in formulas for neuron in formula.neurons}
    observers: dict[str, str] = {}
    for root in lifted.queries:
        node = root.reference.node
        while graph.nodes[node]["kind"] == "not":
            node = next(iter(graph.successors(node)))
        data = graph.nodes[node]
        if data["kind"] not in NEURONS or data["shared"] or node in observers:
            continue
        if node in met:
            observers[node] = f"?{node}"
            grounding.atoms.add_table(observers[node], data["sorts"], (0.0, 1.0))
    return observers


def enter_facts(grounding: Grounding, state: State, given: Sequence[Given]) -> None:
    """Materialise the facts: facts about one atom meet; where they cross, the atom is arrested from the start."""
    atoms = grounding.atoms
    for facts in given:
        if not len(facts):
            continue
        table = atoms.tables[facts.predicate]
        rows = atoms.materialise(table, facts.columns, len(facts))
        state.extend(atoms)
        fresh = rows[~atoms.flags["given"].values.index_select(0, rows)]
        state.lower.values[fresh] = 0.0
        state.upper.values[fresh] = 1.0
        atoms.mark(table, rows, given=True)
        _, crossed = state.meet([(rows, facts.lower)], [(rows, facts.upper)])
        atoms.enlist(crossed)
    rows = atoms.flags["given"].values.nonzero().squeeze(1)
    atoms.deviate(rows, *state.read(rows))


def _ask(lifted: LiftedGraph, grounding: Grounding, state: State) -> set[str]:
    """List the ground atoms that queries mention; returns the tables of which every atom matters."""
    asked: set[str] = set()
    for root in lifted.queries:
        for neuron in unfold(lifted, root).neurons:
            if neuron.kind != "leaf":
                continue
            table: AtomTable = grounding.atoms.tables[neuron.source]
            if all(isinstance(a, str) for a in neuron.arguments):
                ids = [torch.tensor([grounding.domain.index[str(a)]], dtype=torch.int32) for a in neuron.arguments]
                rows = grounding.atoms.materialise(table, ids, 1)
                state.extend(grounding.atoms)
                grounding.atoms.mark(table, rows, given=False)
            else:
                asked.add(neuron.source)
        if lifted.graph.nodes[root.reference.node]["shared"]:
            asked.add(root.reference.node)
    for root in lifted.statements:  # completion reads all that its antecedents mention
        if root.defines:
            formula = unfold(lifted, root, through_shared=True)
            asked |= {formula.neurons[leaf].source for leaf in formula.leaves if leaf not in formula.heads}
    return asked


def _reading(
    formula: Formula,
    analyses: dict[object, Analysis],
    defaults: Mapping[str, tuple[float, float]],
    observers: Mapping[str, str],
) -> Reading:
    analysis = _analysis(analyses, formula, defaults)
    observed = {
        (index, direction): tuple(analysis.conflicts(direction, index))
        for index, neuron in enumerate(formula.neurons)
        if neuron.source in observers and neuron.kind != "leaf"
        for direction in DIRECTIONS
    }
    return Reading(
        formula,
        {direction: tuple(analysis.conflicts(direction)) for direction in DIRECTIONS},
        {direction: tuple(analysis.elements(direction)) for direction in DIRECTIONS},
        observed,
    )


def _relevance(lifted: LiftedGraph, grounding: Grounding, readings: Sequence[Reading], asked: set[str]) -> Relevance:
    given: set[Side] = set()
    listed: set[str] = set()
    for name, table in grounding.atoms.tables.items():
        given |= {(name, side) for side in ("lower", "upper") if len(table.deviating[side])}
        if len(table.deviating["listed"]):
            listed.add(name)
    given |= {(name, side) for name in lifted.closed_derived for side in ("lower", "upper")}
    heads: set[Side] = set()
    for reading in readings:
        formula = reading.formula
        if formula.auxiliary is None and formula.neurons[formula.top].kind == "implies":
            stack = [(formula.neurons[formula.top].operands[1], "lower")]
            while stack:
                index, side = stack.pop()
                neuron = formula.neurons[index]
                if neuron.kind == "leaf":
                    heads.add((neuron.source, side))
                elif neuron.kind == "and" and side == "lower":
                    stack += [(operand, side) for operand in neuron.operands]
                elif neuron.kind == "not":
                    stack.append((neuron.operands[0], "upper" if side == "lower" else "lower"))
    return decide(readings, given, listed, asked, heads)


def _enter(prepared: Prepared, reading: Reading) -> Instances:
    formula = reading.formula
    observers = {
        index: prepared.observers[neuron.source]
        for index, neuron in enumerate(formula.neurons)
        if neuron.source in prepared.observers and neuron.kind != "leaf"
    }
    prepared.grounding.add(
        formula,
        prepared.analysis(formula),
        prepared.finder(formula, reading).inference(),
        leaf_modes(formula, prepared.relevance.mode),
        prepared.kept,
        observers,
    )
    return prepared.grounding.members[-1]


def _stratum(prepared: Prepared, stratum: frozenset[str]) -> list[Instances]:
    """The defining statements of a stratum, unfolded through shared neurons."""
    members = []
    for root in prepared.lifted.statements:
        if not root.defines & stratum:
            continue
        formula = unfold(prepared.lifted, root, through_shared=True)
        heads = frozenset(leaf for leaf in formula.heads if formula.neurons[leaf].source in stratum)
        formula = replace(formula, heads=heads, key=_key(root, prepared.lifted))
        analysis = prepared.analysis(formula)
        prepared.grounding.add(
            formula,
            analysis,
            prepared.finder(formula).completion(analysis.completions()),
            leaf_modes(formula, lambda _name, _side: 0),
            prepared.kept,
            {},
            stage=stratum,
        )
        members.append(prepared.grounding.members[-1])
    return members


def initialise_shared(prepared: Prepared) -> None:
    """Give shared neurons the bounds that their operands give them before the first round."""
    atoms, state = prepared.grounding.atoms, prepared.state
    for formula in prepared.shared:
        assert formula.auxiliary is not None
        scratch = Grounding(atoms, prepared.grounding.domain, prepared.grounding._guard)
        needs = prepared.finder(formula).initial()
        number = scratch.add(
            formula,
            prepared.analysis(formula),
            needs,
            leaf_modes(formula, _all),
            prepared.kept | {formula.auxiliary: True},
            {},
        )
        scratch.extend(scratch.members)
        state.extend(atoms)
        batch = scratch.batches[number]
        if not len(batch.blocks[0]):
            continue
        view = whole(batch)
        up = upward(formula, reader(view, state, atoms), view.groupings)[formula.top]
        lower, upper = up.lower.clamp(min=formula.lower), up.upper.clamp(max=formula.upper)
        crossed = lower > upper + tolerance(state.dtype)
        rows = view.column(-1)
        state.lower.values[rows] = torch.where(crossed, formula.lower, torch.minimum(lower, upper))
        state.upper.values[rows] = torch.where(crossed, formula.upper, torch.maximum(lower, upper))
        atoms.deviate(rows, *state.read(rows))


def _all(_name: str, _side: str) -> int:
    return ALL
