"""The proof checker: recomputes every step, from facts up, by the program's text and the logics' kernels alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

from lnnkit.check.program import ENTITY, Assertion
from lnnkit.check.walk import nodes
from lnnkit.explain.checker.exact_step import CompletedAtom, check_exact
from lnnkit.explain.checker.ground_form import Form, Free, bound_sorts, covers, filled, free_sorts, truth_of
from lnnkit.explain.checker.proof_world import OTHER, Box, InstanceNode, InvalidStep, ProofWorld, Tree, demand
from lnnkit.explain.proof.proof import SIDES, Proof, Step
from lnnkit.numeric import NO_VALUE
from lnnkit.syntax import ast
from lnnkit.syntax.identifiers import AGGREGATES

_COMPLETED = {"lower": "min", "upper": "max"}  # what no candidate gives a number, but all of them together

_Others = tuple[tuple[str, str], ...] | None  # sorts, and a name for any of the entities that are not named


def faults(proof: Proof, world: ProofWorld) -> list[str]:
    """The faults of a proof; empty if it holds."""
    wrong = [(step, problem) for step in proof.steps if (problem := fault(step, proof, world)) is not None]
    problems = [f"{step.atom} {step.side} {step.bound:g}: {problem}" for step, problem in wrong]
    return [*problems, *(["steps rest on each other in a circle"] if _circular(proof) else [])]


def fault(step: Step, proof: Proof, world: ProofWorld) -> str | None:
    """Why a step does not follow from its premises; None if it does."""
    try:
        form = world.form(step.conclusion)
        match step.reason:
            case "open":
                demand(_within(step, world, _unknown(form, world)), "nothing says it")
            case "fact":
                end = math.nan if step.given is None else step.given.end(SIDES.index(step.side))
                near = end == step.bound or abs(end - step.bound) <= world.tolerance
                demand(world.numbers.get(form.name) != _COMPLETED[step.side], "a fact is only one candidate")
                demand(near and step.given in world.origins.of(form.name, form.entities), "there is no such fact")
            case "closed":
                closed = form.kind == "atom" and world.program.predicates[form.name].closed
                closed = closed and (not world.derived(form.name) or world.lacks(form))
                number = form.kind == "atom" and world.program.predicates[form.name].numeric
                silent = math.isinf(step.bound) if number else step.side == "upper" and step.bound >= 0
                demand(closed and silent, "the predicate is not closed")
                if all(isinstance(term, str) for term in form.terms):
                    demand(not world.origins.of(form.name, form.entities), "there is a fact")
            case "stated":
                _stated(step, form, world)
            case "completed" | "candidates":
                _completed(step, proof, world)
            case "statement" | "neuron":
                demand(_within(step, world, _StepInstance(step, proof, world).box()), "the premises do not give it")
            case "exact":
                _exact(step, proof, world)
            case "contradiction":
                satisfied = not _StepInstance(step, proof, world).contradictory(world.tolerance)
                demand(not satisfied, "the instance can be satisfied")
    except InvalidStep as problem:
        return str(problem)
    return None


def _within(step: Step, world: ProofWorld, box: Box) -> bool:
    slack = world.tolerance * max(1.0, abs(step.bound))  # numbers are compared relative to their magnitude
    return box[0] >= step.bound - slack if step.side == "lower" else box[1] <= step.bound + slack


def _unknown(form: Form, world: ProofWorld) -> Box:
    """The bounds of a formula, or a number, about which nothing is stated."""
    number = form.kind == "atom" and world.program.predicates[form.name].numeric
    return (-math.inf, math.inf) if number or form.kind in ("term", *AGGREGATES) else (0.0, 1.0)


def _stated(step: Step, said: Form, world: ProofWorld) -> None:
    assert step.statement is not None
    demand(world.states(step.statement), "the program has no such statement")
    form, truth = world.instance(step.statement, step.bindings), truth_of(step.statement, world.starts)
    while form.kind == "not" and said.kind != "not":
        form, truth = form.operands[0], (1 - truth[1], 1 - truth[0])
    demand(covers(form, said), "the statement says something else")
    demand(_within(step, world, truth), "the statement does not give that truth")


class _Premises:
    """What the premises of a step say: bounds of formulas (``exact``), and of atoms that match a pattern (``blanket``),
    with what these except, and whether they hold of unnamed individuals."""

    def __init__(self, step: Step, proof: Proof, world: ProofWorld, assumed: frozenset[int] = frozenset()) -> None:
        self.exact: dict[Form, Box] = {}
        self._blanket: list[tuple[Form, Box, frozenset[tuple[str, ...]] | None, Callable[[], bool]]] = []
        self._world = world
        aggregates = (part.name for part in nodes(step.formula or step.conclusion) if isinstance(part, ast.Aggregate))
        self._may_be_empty = not {"mean", "min", "max"}.isdisjoint(aggregates)
        for premise in step.premises:
            base = proof.steps[premise.step]
            form = world.form(base.conclusion)
            lowest, highest = _unknown(form, world)
            box = (base.bound, highest) if base.side == "lower" else (lowest, base.bound)
            box = NO_VALUE if base.reason in ("closed", "candidates") and math.isinf(base.bound) else box
            if any(isinstance(term, Free) for term in form.all_terms):
                of_unnamed = cache(partial(_of_unnamed, premise.step, proof, world, assumed))
                self._blanket.append((form, box, base.excepted, of_unnamed))
            else:
                low, high = self.exact.get(form, (lowest, highest))
                self.exact[form] = max(low, box[0]), min(high, box[1])

    def read(self, form: Form) -> Box:
        """The bounds of a formula from the premises."""
        exact = self.exact.get(form)
        if exact is not None:
            return exact
        boxes: list[Box] = []
        for pattern, box, excepted, of_unnamed in self._blanket:
            alike = pattern.name == form.name or pattern.arithmetic is not None  # a formula whose text may be shorter
            if pattern.kind == form.kind and alike and covers(pattern, form):
                if form.kind != "atom":
                    # It says nothing of `a = a` where it has `X = a`. An entity that facts list, and that it does not
                    # name, may be an element of an aggregate without which that has no value
                    atoms = [leaf for leaf in form.leaves if leaf.kind == "atom"] if self._may_be_empty else []
                    more = (({*atom.entities} - {*pattern.all_terms}, atom.name) for atom in atoms)
                    excepts = any(entities & self._world.origins.entities(name) for entities, name in more)
                    if _equalities(pattern) == _equalities(form) and not excepts:
                        boxes.append(box)
                    continue
                named = all(isinstance(term, str) and not term.startswith(OTHER) for term in form.terms)
                given = self._world.origins.of(form.name, form.entities) if named else ()
                free = excepted is None or form.entities not in excepted
                if given:  # a fact that adds nothing is no exception
                    free = box != NO_VALUE and min(fact.upper for fact in given) <= box[1]
                unnamed = any(str(term).startswith(f"{OTHER}?") for term in form.terms)
                if free and (not unnamed or of_unnamed()):
                    boxes.append(box)
        boxes = boxes or [_unknown(form, self._world)]
        low, high = max(low for low, _ in boxes), min(high for _, high in boxes)
        return (low, high) if low <= high else boxes[0]  # a number without a value, or what contradicts itself

    def instances(self, form: Form, unnamed: bool = False) -> Iterator[tuple[Assertion, float, dict[str, str], Form]]:
        """The statements that conclude an atom, each with its lower truth, the assignments that unify its conjunct with
        the atom, and what this is then; one of those that differ in entities alone of which the premises, and the facts
        that these may except, say the same; of ``unnamed`` individuals too."""
        named = {term for some in (form, *self.exact) for term in some.all_terms}
        for pattern, _, excepted, _ in self._blanket:
            named |= {*pattern.all_terms}.union(*(excepted or ()))
            for atom in (leaf for leaf in pattern.leaves if leaf.kind == "atom"):
                fixed = [term if isinstance(term, str) and atom is pattern else None for term in atom.terms]
                named = named.union(*self._world.origins.atoms(atom.name, fixed))
        for rule in self._world.rules.get(form.name, ()):
            known, seen = named.union(rule.whole.all_terms), set[tuple[object, ...]]()
            for bindings in rule.unified(form, self._world, of_unnamed=unnamed):
                entities = [*bindings.values()]
                alike = (e if e in known or e.startswith(OTHER) else entities.index(e) for e in entities)
                key = (*bindings, *alike)
                if key not in seen:
                    seen.add(key)
                    arguments = (bindings[t.name] if isinstance(t, Free) else t for t in rule.conjunct.terms)
                    yield rule.statement, rule.lower, bindings, Form("atom", form.name, tuple(arguments))

    def tree(self, form: Form, target: Form, *, asked: bool = False) -> Tree:
        """An instance with a row for each entity that a premise, the target or the instance names, and one for all
        others. In a formula that is ``asked`` for, comparisons without a premise are evaluated from their numbers."""
        world = self._world
        patterns = (pattern for pattern, *_ in self._blanket)
        named = {term for f in (form, target, *self.exact, *patterns) for term in f.all_terms if isinstance(term, str)}
        for pattern, _, excepted, _ in self._blanket:
            named |= {entity for entities in excepted or () for entity in entities}
            if excepted is None and pattern.kind == "atom":  # Facts outside a blanket conclusion read as unknown.
                named |= world.origins.entities(pattern.name)
        nodes: list[InstanceNode] = []
        compares = any(leaf.kind == "same" for leaf in form.leaves)
        if compares:  # as many entities as may have to differ
            inner = (part for part, _ in form.walk() if part.count)
            bound = [sort for part in inner for sort in bound_sorts(part, world.program.predicates)]
            named |= {entity for sort in bound for entity in world.sorts[sort][: len(bound)]}

        def add(part: Form, depth: int, others: _Others) -> int:
            operands: list[int] = []
            copies: list[tuple[float, float]] = []
            # A comparison, or a node with a premise, has bounds of its own: its operands may contradict these.
            kept = part.kind == "compare" and bool(part.operands) and not asked
            read = part is not form and (kept or self.read(part) != _unknown(part, world))
            if not read and part.count:
                choices, met = _choices(part, depth, named, others, world)
                for row in itertools.product(*choices):
                    entities = tuple(entity for entity, *_ in row)
                    operands += [add(filled(operand, entities), depth + 1, met) for operand in part.operands]
                    copies.append((math.prod(least for _, least, _ in row), math.prod(most for *_, most in row)))
            elif not read:
                operands = [add(operand, depth, others) for operand in part.operands]
            nodes.append(InstanceNode(part, tuple(operands), tuple(copies), read))
            return len(nodes) - 1

        add(form, 0, () if compares else None)
        return Tree(nodes, world.dtype, derived=world.numbers)


def _equalities(form: Form) -> list[bool]:
    """Which of its equalities have the same term on both sides."""
    return [leaf.terms[0] == leaf.terms[1] for leaf in form.leaves if leaf.kind == "same"]


def _of_unnamed(number: int, proof: Proof, world: ProofWorld, assumed: frozenset[int]) -> bool:
    """Whether a conclusion about all atoms holds of unnamed individuals too, as is ``assumed`` of some steps."""
    step = proof.steps[number]
    if step.reason != "completed" or number in assumed:  # of a number, closed predicates and numbers list candidates
        return True
    try:
        _completed(step, proof, world, assumed | {number})
    except InvalidStep:
        return False
    return True


def _choices(
    quantifier: Form, depth: int, named: set[str], others: _Others, world: ProofWorld
) -> tuple[list[list[tuple[str, float, float]]], _Others]:
    """The entities for each variable of a quantifier or an aggregate, and how many each stands for at least and at
    most; and the ``others`` that those of its body may equal, with its own. Those of one sort all differ."""
    choices: list[list[tuple[str, float, float]]] = []
    for place, sort_name in enumerate(bound_sorts(quantifier, world.program.predicates)):
        members = world.sorts[sort_name]
        name = ENTITY if len(members) == len(world.sorts[ENTITY]) else sort_name  # a sort may have all entities
        met = [other for sort, other in others or () if name in (sort, ENTITY)]
        candidates = [(entity, 1.0, 1.0) for entity in members if entity in named]
        rest = float(len(members) - len(candidates))
        if len(candidates) + sum(other.endswith(f" {name}") for other in met) < len(members):
            met.append(f"{OTHER}{depth} {place} {name}")
            others = None if others is None else (*others, (name, met[-1]))
        candidates += [(other, rest if len(met) == 1 else 1.0, rest) for other in met]
        candidates += [(entity, 0.0, math.inf) for entity in world.unnamed(sort_name, f"{depth} {place}")]
        choices.append(candidates)
    return choices, others


class _StepInstance:
    """The instance of a step, prepared for evaluation with the truth of its statement."""

    def __init__(self, step: Step, proof: Proof, world: ProofWorld) -> None:
        assert step.formula is not None
        form, self._truth = world.form(step.formula), (0.0, 1.0)
        if step.statement is not None:
            demand(world.states(step.statement), "the program has no such statement")
            whole = world.instance(step.statement, step.bindings)
            demand(covers(whole, form), "it is not an instance of the statement")
            self._truth = truth_of(step.statement, world.starts)
        self._premises = _Premises(step, proof, world)
        target = world.form(step.conclusion)
        derives = any(rule.statement == step.statement for rule in world.rules.get(target.name, ()))
        self._least = world.numbers[target.name] == "min" if derives and target.name in world.numbers else None
        asked = self._least is not None or (step.statement is None and form == target)
        self._tree = self._premises.tree(form, target, asked=asked)
        self._places = [place for place, node in enumerate(self._tree.nodes) if node.form == target]
        demand(bool(self._places), "the instance does not contain this atom")

    def contradictory(self, tolerance: float) -> bool:
        """Whether the instance is unsatisfiable. Bounds of the whole instance are met with its truth."""
        whole, read = self._tree.nodes[self._tree.top].form, self._premises.read
        low, high = read(whole)
        truth = max(self._truth[0], low), min(self._truth[1], high)
        if truth[0] > truth[1] + tolerance:
            return True
        values = self._tree.upward(lambda form: (0.0, 1.0) if form == whole else read(form))
        return self._tree.downward(values, truth)[1]

    def box(self) -> Box:
        """The best bounds of the conclusion that the instance implies. In a contradictory program, parts of an instance
        may contradict each other or its truth, while without one of them (or one end of the truth) it still implies a
        bound: omission only weakens. Of a derived number, the better end by the instance as a candidate for it."""
        if self._least is not None:
            lower, upper = self._tree.candidate(self._tree.upward(self._premises.read))
            return (-math.inf, upper) if self._least else (lower, math.inf)
        low, high = self._truth
        boxes = self._boxes(self._tree, self._truth, self._places)
        if not boxes:
            for truth in ((low, 1.0), (0.0, high)):
                boxes += self._boxes(self._tree, truth, self._places)
            for place in self._places:
                for part in self._tree.parts(place):
                    boxes += self._boxes(replace(self._tree, unknown=part), self._truth, [place])
            boxes += [self._truth] if self._tree.top in self._places else []
        demand(bool(boxes), "the premises contradict the instance")
        return max(low for low, _ in boxes), min(high for _, high in boxes)

    def _boxes(self, tree: Tree, truth: Box, places: Sequence[int]) -> list[Box]:
        """The bounds of some nodes after one pass; none if parts of the instance contradict each other."""
        boxes, empty = tree.downward(tree.upward(self._premises.read), truth)
        return [] if empty else [(boxes[p].lower.item(), boxes[p].upper.item()) for p in places]


def _exact(step: Step, proof: Proof, world: ProofWorld) -> None:
    """Premises are checked as steps of their own; the solver receives their conclusions and nothing else."""
    premises = _Premises(step, proof, world)
    stated = {form: box for form, box in premises.exact.items() if form.kind != "atom"}
    completed = [defined(world.form(atom), world) for atom in step.completes]
    named = all(statement in step.rules for atom in completed for statement in atom.statements)
    demand(named, "not all rules that complete its atoms are named")
    check_exact(step, world, premises.read, stated, completed)


def defined(atom: Form, world: ProofWorld) -> CompletedAtom:
    """A completed atom with the instances of all its rules. Raises `InvalidStep` if the rules do not determine it."""
    given = world.origins.of(atom.name, atom.entities)
    demand(world.derived(atom.name) and not world.lacks(atom) and not given, f"no rule completes {atom.name}")
    instances: dict[tuple[Form, float], None] = {}
    statements: list[Assertion] = []
    for rule in world.rules.get(atom.name, ()):
        sorts = free_sorts(rule.whole, world.program.predicates)
        more = sorts.keys() - {term.name for term in rule.conjunct.terms if isinstance(term, Free)}
        is_open = any(world.unnamed(sorts[name], name) for name in more)
        demand(not is_open, f"individuals without names may make {atom.name} true")
        statements.append(rule.statement)
        instances |= {(world.instance(rule.statement, bound), rule.lower): None for bound in rule.unified(atom, world)}
    return CompletedAtom(atom, statements, list(instances))


def _completed(step: Step, proof: Proof, world: ProofWorld, assumed: frozenset[int] = frozenset()) -> None:
    """Check that no instance of a rule with the atom as head requires more than its bound or, of a number, is a better
    candidate, nor is a fact; where that is ``assumed`` of some steps, no instance about unnamed individuals either."""
    form, premises, number = (
        world.form(step.conclusion),
        _Premises(step, proof, world, assumed),
        step.reason != "completed",
    )
    if number:
        kind = world.numbers.get(form.name)
        demand(kind is not None and kind == _COMPLETED[step.side], "no rule derives the number")
    else:
        demand(world.derived(form.name), "no rule completes the predicate")
        demand(step.side == "upper", "a completed predicate is true only by its rules")
    slack = 0.0 if math.isinf(step.bound) else world.tolerance * max(1.0, abs(step.bound))

    def concerns(asked: Form) -> bool:
        return covers(form, asked) and (step.excepted is None or asked.terms not in step.excepted)

    def check(end: float, what: str) -> None:
        better = end < step.bound - slack if step.side == "lower" else end > step.bound + slack
        demand(not better, f"{what} gives {end:g}")

    pattern = [term if isinstance(term, str) else None for term in form.terms]
    for entities in world.origins.atoms(form.name, pattern) if number else ():
        if concerns(Form("atom", form.name, entities)):
            for fact in world.origins.of(form.name, entities):
                check(fact.end(SIDES.index(step.side)), "a fact")
    for statement, lower, bindings, asked in premises.instances(form, unnamed=bool(assumed)):
        if concerns(asked):
            tree = premises.tree(world.instance(statement, bindings), asked, asked=number)
            values, said = tree.upward(premises.read), f"{statement.text} with {bindings}"
            if number:
                check(tree.candidate(values)[step.side == "upper"], said)
                continue
            for head in tree.heads():
                if tree.nodes[head].form == asked:
                    check(tree.least_conjunct(values, lower, head), said)


def _circular(proof: Proof) -> bool:
    """Whether steps depend on themselves, other than by completing predicates together."""
    import networkx as nx  # 60 CPU milliseconds, so only where proofs are checked

    graph = nx.DiGraph((number, premise.step) for number, step in enumerate(proof.steps) for premise in step.premises)
    parts = nx.strongly_connected_components(graph)
    circles = (part for part in parts if len(part) > 1 or any(graph.has_edge(number, number) for number in part))
    return any(proof.steps[number].reason not in ("completed", "candidates") for part in circles for number in part)
