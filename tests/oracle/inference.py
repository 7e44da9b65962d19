"""Synchronous rounds over full grounding, arrest, completion, queries."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Set
from dataclasses import dataclass, field

from .comparison import values
from .completion import STEP, Completion
from .laws import compared, told, with_laws
from .network import Ground, Key, Network, Node, Place, ground_term
from .neurons import TOL, Empty, complement
from .passes import crosses, go_down, go_up, meet, uncrossed
from .program import TERMS, UNITS, UNKNOWN, AtomKey, Box, Program, strip_negations, with_stated_facts
from .reals import between, hull, same

ANY: Box = (-math.inf, math.inf)


@dataclass(frozen=True)
class Contradiction:
    """``kind`` is "atom" (``what``: predicate and arguments), "instance" (statement index and the entities of its free
    variables), "neuron" (a shared neuron's bounds crossed) or "neuron instance" (it cannot have them): key, entities.
    ``bounds`` are the crossed ones; None where a preimage is empty."""

    kind: str
    what: Place
    bounds: Box | None


@dataclass(frozen=True)
class Answer:
    lower: float
    upper: float

    @property
    def contradiction(self) -> bool:
        return self.lower > self.upper + TOL


@dataclass
class Result:
    """``answers[i]`` maps the entities of ``variables[i]``, in the order of their first mention, to the answer."""

    status: str  # "converged" or "round_limit"
    rounds: int  # those that changed something
    atoms: dict[AtomKey, Box]
    contradictions: list[Contradiction]
    variables: list[tuple[str, ...]]
    answers: list[dict[tuple[str, ...], Answer]]
    initial: dict[AtomKey, Box]  # atoms before the first round
    of_unnamed: frozenset[str]  # the completed predicates that may be true of unnamed individuals


@dataclass
class Instance:
    """Something that goes up and down in a round: its given bounds are ``truth`` or those of ``state``."""

    name: Place
    kind: str
    root: Ground
    truth: Box = UNKNOWN
    state: Place | None = None
    arrested: bool = False


def run(
    program: Program,
    max_rounds: int = 500,
    jitter: float = 0.0,
    closed: bool = False,
    of_unnamed: Set[str] = frozenset(),
) -> Result:
    """Full inference over a program; without rounds, its answers at the start. With ``closed``, sets of numbers are
    closed: ends that are only approached count as reached.

    ``jitter`` widens every message that is neither 0 nor 1 by so much. Where that moves an answer far more than the
    jitter itself, a cycle of rules amplifies rounding, and no two implementations need agree: see :func:`robust`. The
    completed predicates ``of_unnamed`` may be true of unnamed individuals, beside those that the rules say.
    """
    network = Network(with_laws(with_stated_facts(program)), closed)
    network.of_unnamed |= of_unnamed
    return Inference(network, max_rounds, jitter).run()


def robust(
    program: Program, result: Result, max_rounds: int = 500, jitter: float = 1e-12, within: float = 1e-9
) -> bool:
    """Whether ``result`` is insensitive to rounding: the same arrests and bounds if every message is a little wider."""
    other = run(program, max_rounds, jitter)
    boxes = [(other.atoms[key], box) for key, box in result.atoms.items()]
    boxes += [
        ((there[row].lower, there[row].upper), (answer.lower, answer.upper))
        for here, there in zip(result.answers, other.answers, strict=True)
        for row, answer in here.items()
    ]
    return (
        result.status == other.status
        and {(c.kind, c.what) for c in result.contradictions} == {(c.kind, c.what) for c in other.contradictions}
        and all(near(p, q, within) for first, second in boxes for p, q in zip(first, second, strict=True))
    )


def near(a: float, b: float, within: float) -> bool:
    """Within so much of each other, relative to the greater where they are beyond 1."""
    finite = math.isfinite(a) and math.isfinite(b)
    return a == b or (finite and abs(a - b) <= within * max(1.0, abs(a), abs(b)))


@dataclass
class Inference:
    network: Network
    max_rounds: int
    jitter: float = 0.0
    state: dict[Place, Box] = field(default_factory=dict)
    arrested: set[Place] = field(default_factory=set)  # atoms and shared neurons
    contradictions: list[Contradiction] = field(default_factory=list)
    observed: dict[object, Box] = field(default_factory=dict)  # what is said of the instances that queries ask for
    rounds: int = 0

    def __post_init__(self) -> None:
        self.completion = Completion(self.network)
        self.asked = {
            self.network.form(_core(query).formula, dict(zip(free, row, strict=True)), {})
            for query, free in zip(self.network.queries, self.network.query_free, strict=True)
            for row in self.network.assignments(free, query.sorts)
        }
        self.shared_forms: dict[object, list[Place]] = {}
        self.given: dict[Key, Box] = dict.fromkeys(self.network.shared, UNKNOWN)
        self.instances = []
        for rule in self.network.rules:
            core, truth = rule.root, rule.truth
            while core.kind == "not":
                core, truth = core.operands[0], complement(truth)
            if core.key in self.network.shared:
                self.given[core.key] = meet(self.given[core.key], truth)
                continue
            for row in self.network.assignments(rule.free, rule.root.sorts):
                root = self.network.ground(rule.root, dict(zip(rule.free, row, strict=True)))
                self.instances.append(Instance((rule.index, row), "instance", root, rule.truth))
        for key, node in self.network.shared.items():
            for row in self.network.assignments(node.free, node.sorts):
                root = self.network.ground(node, dict(zip(node.free, row, strict=True)))
                self.instances.append(Instance((key, row), "neuron instance", root, state=(key, row)))
                self.shared_forms.setdefault((root.form, key), []).append((key, row))

    def run(self) -> Result:
        self._start_atoms()
        self._start_shared(comparisons=True)
        settled = self._complete(first=True) is not None
        self._start_shared(comparisons=False)
        initial = self._atoms()
        while settled:
            changed = True
            while changed and self.rounds < self.max_rounds:
                changed = self._round()
            completed = self._complete() if not changed else None
            settled = completed is not None
            if not completed:
                break
        variables, answers = self.network.query_free, [self._answers(i) for i in range(len(self.network.queries))]
        status = "converged" if settled else "round_limit"
        unnamed = frozenset(self.network.of_unnamed)
        return Result(status, self.rounds, self._atoms(), self.contradictions, variables, answers, initial, unnamed)

    # --- the start -----------------------------------------------------------------------------------------------

    def _start_atoms(self) -> None:
        sorts = self.network.sorts
        for predicate in self.network.program.predicates:
            default = ANY if predicate.numeric else (0.0, 0.0) if predicate.closed else UNKNOWN
            domains = [sorts.domains[sorts.positions[predicate.name, i]] for i in range(predicate.arity)]
            for row in itertools.product(*domains):
                self.state[predicate.name, row] = default
        for place in self.network.listed:
            self.state[place] = self._unknown(place)
        for fact in self.network.program.facts:
            place = fact.predicate, fact.arguments
            self.state[place] = meet(self.state[place], (fact.lower, fact.upper))
        for place in sorted(self.network.listed):
            self._settle(place, self.state[place])

    def _start_shared(self, comparisons: bool) -> None:
        """Bottom-up: given meet upward; where that crosses, given alone, and round 1 arrests the instance. Comparisons
        come before all else, since completion reads them."""
        for instance in self.instances:
            if instance.state is not None and (instance.root.kind == "compare") == comparisons:
                given = self.given[instance.state[0]]
                box = meet(go_up(instance.root, self._read), given)
                self._settle(instance.state, given if crosses(box) else box)

    def _settle(self, place: Place, box: Box) -> bool:
        """Sets bounds; arrests what crosses. Says whether that changed anything."""
        old = self.state.get(place, UNKNOWN)
        crossed = crosses(box) and not (place[0] in self.network.numeric and same(*box))
        self.state[place] = box if crossed else uncrossed(box)
        if crossed:
            self.arrested.add(place)
            kind = "atom" if isinstance(place[0], str) else "neuron"
            self.contradictions.append(Contradiction(kind, place, box))
            return True
        return not all(near(a, b, STEP) for a, b in zip(old, self.state[place], strict=True))

    # --- rounds --------------------------------------------------------------------------------------------------

    def _bounds(self, place: Place) -> Box:
        return self._unknown(place) if place in self.arrested else self._held(place)

    def _held(self, place: Place) -> Box:
        """Bounds, crossed ones too. What a query says of an entity that is not of the sort has none."""
        return self.state[place] if place in self.state else self.network.unlisted(place[0])

    def _unknown(self, place: Place) -> Box:
        return ANY if place[0] in self.network.numeric else UNKNOWN

    def _read(self, leaf: Ground) -> Box:
        """A defining instance reads the completed atoms that it defines as unknown."""
        assert leaf.place is not None
        return UNKNOWN if leaf.head and leaf.place not in self.network.listed else self._bounds(leaf.place)

    def _round(self) -> bool:
        """All instances read the same snapshot; their messages meet at the end."""
        messages: dict[Place, Box] = {}
        changed = False
        for instance in self.instances:
            if not instance.arrested:
                sent = self._visit(instance)
                changed |= sent is None
                for place, box in sent or ():
                    messages[place] = meet(messages.get(place, self._unknown(place)), self._jittered(place, box))
        for place, box in messages.items():
            if place not in self.arrested:
                changed |= self._settle(place, meet(self.state[place], box))
        self.rounds += changed
        return changed

    def _jittered(self, place: Place, box: Box) -> Box:
        lower, upper = box
        if place[0] in self.network.numeric:
            return lower - self.jitter * max(1.0, abs(lower)), upper + self.jitter * max(1.0, abs(upper))
        return (lower - self.jitter if lower < 1 else lower, upper + self.jitter if upper > 0 else upper)

    def _visit(self, instance: Instance) -> list[tuple[Place, Box]] | None:
        """One instance's messages; None if it is arrested now. A comparison whose bounds crossed says nothing more."""
        if instance.root.kind == "compare" and instance.state in self.arrested:
            return []
        given = self._bounds(instance.state) if instance.state else instance.truth
        found = go_up(instance.root, self._read)
        box = meet(found, given)
        if crosses(box) and instance.root.kind == "compare":
            assert instance.state is not None
            return [(instance.state, found)]  # its own atom is arrested by it
        if crosses(box):
            return self._arrest(instance, box)
        box = uncrossed(box)
        sent: list[tuple[Place, Box]] = [(instance.state, box)] if instance.state else []
        seen: list[tuple[object, Box]] = []

        def send(node: Ground, left: Box) -> None:
            if node.kind == "leaf" and node.place and not node.head:
                sent.append((node.place, left))
            elif node.place and node.form in self.asked:
                low = left[0] if left[0] > node.box[0] + STEP else 0.0  # said from above, not from its operands
                high = left[1] if left[1] < node.box[1] - STEP else 1.0
                seen.append(((node.form, node.place[0]), (low, high)))

        try:
            go_down(instance.root, box, send)
        except Empty:
            return self._arrest(instance, None)
        for form, said in seen:
            self.observed[form] = meet(self.observed.get(form, UNKNOWN), said)
        return sent

    def _arrest(self, instance: Instance, bounds: Box | None) -> None:
        instance.arrested = True
        node, truth = instance.root, instance.truth
        while node.kind == "not":
            node, truth = node.operands[0], complement(truth)
        if instance.state is None and node.place and node.form in self.asked:  # what is stated outright stands (P7)
            form = node.form, node.place[0]
            self.observed[form] = meet(self.observed.get(form, UNKNOWN), truth)
        self.contradictions.append(Contradiction(instance.kind, instance.name, bounds))

    # --- completion ----------------------------------------------------------------------------------------------

    def _complete(self, first: bool = False) -> bool | None:
        """All strata in order. Says whether anything changed; None if it does not settle."""
        changed = False
        for names in self.network.strata:
            found = self.completion.stratum(names, self._bounds, self.arrested)
            if found is None:
                return None
            for place in [p for p in self.state if p[0] in names]:
                if place not in self.network.listed and place not in self.arrested:
                    box = found.get(place, (0.0, 0.0))
                    changed |= self._settle(place, box if first else meet(self.state[place], box))
        return changed

    # --- queries -------------------------------------------------------------------------------------------------

    def _answers(self, index: int) -> dict[tuple[str, ...], Answer]:
        query, free = self.network.queries[index], self.network.query_free[index]
        if query.kind in (*TERMS, *UNITS):
            return {row: self._number(query, row) for row in self.network.assignments(free, query.sorts)}
        negated = strip_negations(query.formula)[1]
        core, answers = _core(query), {}
        heard = [
            key for key, node in self.network.neurons.items() if self.network.is_instance(core.formula, node.formula)
        ]
        for row in self.network.assignments(free, query.sorts):
            root = self.network.ground(core, dict(zip(free, row, strict=True)))
            if root.kind == "leaf":
                assert root.place is not None
                box = self._held(root.place)  # crossed bounds too
            else:
                box = go_up(root, self._read)
                for key in heard:
                    for place in self.shared_forms.get((root.form, key), ()):
                        box = meet(box, self.state[place])
                    box = meet(box, self.observed.get((root.form, key), UNKNOWN))
                mine = compared(core.formula)
                if mine is not None:
                    box = meet(box, told(list(self._relatives(core, row)), mine[1]))
                box = box if crosses(box) else uncrossed(box)
            answers[row] = Answer(*(complement(box) if negated else box))
        return answers

    def _relatives(self, core: Node, row: tuple[str, ...]) -> Iterator[tuple[str, bool, Box]]:
        """The program's comparisons of the same two terms as one, itself among them: operators, whether they
        are mirrored, truths."""
        mine = compared(core.formula)
        if mine is None:
            return
        ground = ground_term(mine, dict(zip(core.free, row, strict=True)))
        for instance in self.instances:
            if instance.state is None or instance.root.kind != "compare":
                continue
            theirs, term = (compared(f) for f in (self.network.shared[instance.state[0]].formula, instance.root.term))
            if theirs is None or term is None:
                continue
            for order in ((2, 3), (3, 2)):
                same = ground[2:4] == tuple(term[place] for place in order)
                turned = (*theirs[:2], *(theirs[place] for place in order), *theirs[4:])
                if same and self.network.is_instance((*mine[:1], turned[1], *mine[2:]), turned):
                    yield theirs[1], order == (3, 2), self._bounds(instance.state)

    def _number(self, query: Node, row: tuple[str, ...]) -> Answer:
        """The hull of a term; of a number itself its crossed bounds too."""
        term = ground_term(query.formula, dict(zip(query.free, row, strict=True)))
        if term[0] == "number":
            return Answer(*self._held((term[1], term[2])))
        closed = self.network.closed_sets
        found = values(term, lambda number: between(*self._bounds((number[1], number[2]))), closed)
        return Answer(*(hull(found) if found else ANY))

    def _atoms(self) -> dict[AtomKey, Box]:
        return {place: box for place, box in self.state.items() if isinstance(place[0], str)}


def _core(query: Node) -> Node:
    """The query below its leading negations."""
    while query.kind == "not":
        query = query.operands[0]
    return query
