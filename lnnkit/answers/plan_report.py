"""The recorded joins in the user's terms: statements, literals and predicates instead of members and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lnnkit.analysis.needs import EQUAL, in_order
from lnnkit.analysis.relevance import ALL, LISTED, SIDES, Relevance
from lnnkit.check.program import Assertion
from lnnkit.engine.inference_run import Run
from lnnkit.engine.planning.compiling import whole_neuron
from lnnkit.formula.as_syntax import canonical_text
from lnnkit.formula.unfolding import Formula
from lnnkit.graph.lifted import NUMBER, LiftedGraph
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.join_plan import Entered, JoinStep, Ranged, Reads, Recorder
from lnnkit.join.literal_join import listing
from lnnkit.plan import PlanJoin, PlanStep, SidePlan, StatementPlan, TablePlan

_SHOWN = 110  # greatest length of a statement's text


def statement_plans(run: Run, recorder: Recorder) -> tuple[StatementPlan, ...]:
    """The plan of each statement, in program order, its completion before its inference; then those of shared
    formulas, their first bounds last."""
    order, stating = dict[object, int](), dict[str, list[str]]()  # the names of those that state a shared formula
    for root in run.plan.lifted.statements:
        order.setdefault(id(root.origin), len(order))
        if isinstance(root.origin, Assertion):
            stating.setdefault(root.reference.node, []).append(root.origin.called)
    plans: list[tuple[tuple[bool, int, str], StatementPlan]] = []
    for member, entered in enumerate(recorder.entered):
        root = entered.formula.root
        assert root is not None
        shared = entered.formula.auxiliary is not None
        place = (shared, 0 if shared else order[id(root.origin)], entered.purpose)
        plans.append((place, _statement(run, recorder, member, entered, stating)))
    return tuple(plan for _, plan in sorted(plans, key=lambda placed: placed[0]))


def _statement(
    run: Run, recorder: Recorder, member: int, entered: Entered, stating: Mapping[str, list[str]]
) -> StatementPlan:
    """What one statement cost, and its joins: as executed, else as they were planned."""
    formula, needs = entered.formula, entered.needs
    assert formula.root is not None
    joins: list[PlanJoin] = []
    fills = (literals for _, families in sorted(needs.fills.items()) for literals in families)
    for number, need in enumerate((*(need.literals for need in needs.rows), *fills)):
        made = recorder.made(member, number)
        if made is None:
            literals, tables = listing(in_order(need)), run.grounding.atoms.tables
            steps = [JoinStep(one, len(tables[one.table].listing(one.column)), None) for one in literals]
            if steps:
                joins.append(_join(run, formula, 0, steps))
        else:
            joins += [_join(run, formula, join.times, join.steps) for join in made]
    origin = formula.root.origin
    members, purpose = run.grounding.members, entered.purpose
    rule = members[member] if member < len(members) else None
    finder = rule if rule is None or isinstance(rule, DeltaRule) else rule.finder
    instances = recorder.proposals[member] if finder is None else finder.assignment_count
    cost = recorder.proposals[member], recorder.seconds[member]
    if formula.auxiliary is not None or not isinstance(origin, Assertion):
        names = ", ".join(stating.get(str(formula.auxiliary), ())) or None
        return StatementPlan("neuron", names, formula.key, None, None, purpose, instances, tuple(joins), *cost)
    text = origin.text.partition(":")[2] if origin.name else origin.text.removeprefix(origin.kind)
    text = text.lstrip()
    text = text if len(text) <= _SHOWN else text[:_SHOWN] + " ..."
    file, line = origin.span.source.path, origin.span.line
    return StatementPlan(origin.kind, origin.name, text, file, line, purpose, instances, tuple(joins), *cost)


def _join(run: Run, formula: Formula, times: int, steps: Sequence[JoinStep]) -> PlanJoin:
    shown = tuple(PlanStep(_reads(run, formula, step.reads), step.rows, step.out) for step in steps)
    return PlanJoin(times, shown)


def _reads(run: Run, formula: Formula, reads: Reads) -> str:
    """``Friends(X, Y) upper below 1``, or ``X: all of person``; ``range:`` where a sorted index finds the rows."""
    if isinstance(reads, int):
        return f"{_variable(formula, reads)}: all of {formula.sorts[reads]}"
    if isinstance(reads, Ranged):
        numbers = dict.fromkeys(number for limit in reads.ranges for number in limit.numbers)
        shown = ", ".join(f"{name}({', '.join(_named(formula, arguments))})" for name, arguments in numbers)
        return f"range: {_reads(run, formula, reads.literal)}, by {shown}"
    named = _named(formula, reads.arguments)
    if reads.table == EQUAL:
        return " = ".join(named)
    if reads.table in run.plan.demands:
        predicate, places = run.plan.demands[reads.table]
        shown = ["_"] * len(run.plan.lifted.graph.nodes[predicate]["sorts"])
        for place, name in zip(places, named, strict=True):
            shown[place] = name
        return f"{predicate}({', '.join(shown)}) asked for"
    atom = _name(run.plan.lifted, reads.table) + (f"({', '.join(named)})" if reads.arguments else "")
    low, high = run.grounding.atoms.tables[reads.table].default
    differs = {
        "lower": "lower above 0" if low == 0 else f"lower other than {low:g}",
        "upper": "upper below 1" if high == 1 else "upper above 0" if high == 0 else f"upper other than {high:g}",
        "either": "known" if (low, high) == (0, 1) else "other than the default",
        "listed": "listed",
        "given": "given by facts",
    }
    return f"{atom} {differs[reads.column]}"


def _named(formula: Formula, arguments: Sequence[int | str]) -> list[str]:
    return [argument if isinstance(argument, str) else _variable(formula, argument) for argument in arguments]


def _variable(formula: Formula, number: int) -> str:
    assert formula.root is not None
    names = formula.root.variables
    return names[number] if number < len(names) else f"X{number}"


def _name(lifted: LiftedGraph, table: str) -> str:
    """A predicate's name, or the text of a shared formula."""
    if lifted.graph.nodes[table]["kind"] in ("predicate", NUMBER):
        return table
    return f"[{canonical_text(whole_neuron(lifted, table))}]"


def table_plans(run: Run) -> tuple[TablePlan, ...]:
    """How the two sides of each predicate are derived, by name; then those of shared formulas."""
    graph = run.plan.lifted.graph
    tables = [table for name, table in run.grounding.atoms.tables.items() if name in graph.nodes]
    tables.sort(key=lambda table: (graph.nodes[table.name]["kind"] not in ("predicate", NUMBER), table.name))
    plans = []
    for table in tables:
        sides = [
            SidePlan(
                _status(run.plan.relevance, table.name, side, table.name in run.plan.lifted.closed_derived),
                len(table.listing(side)),
            )
            for side in SIDES
        ]
        plans.append(TablePlan(_name(run.plan.lifted, table.name), sides[0], sides[1]))
    return tuple(plans)


def _status(relevance: Relevance, table: str, side: str, completed: bool) -> str:
    if completed:
        return "completed"
    mode = relevance.mode(table, side)
    if mode == ALL:
        return "derived"
    if mode == LISTED:
        return "derived-where-listed"
    if (table, side) in relevance.derived:
        return "not-needed"
    return "facts" if (table, side) in relevance.produced else "default"
