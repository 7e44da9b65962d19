"""Every join of an inference against nested loops over all entities."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence

import numpy as np
import pytest

import lnnkit
from lnnkit.analysis.needs import EQUAL, Literal
from lnnkit.engine.inference_run import Run
from lnnkit.join import join_index, literal_join
from lnnkit.join.bindings import Bindings
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.literal_join import Joins, Literals, listing
from lnnkit.store.row_arrays import Array
from tests.blocks import at_length
from tests.join.every_join import MOST, Loops, Rows, tuples, watched
from tests.linked_comparisons import generate as compared
from tests.programs import MODES, generate, to_text

ARITIES = {"E": 2, "F": 2, "G": 3, "U": 1, "V": 1, "P": 2, "Q": 1, "R": 3, "S": 2}
FACTS = "EFGUV"  # the other predicates are derived
SORTS = {"E": "(a, a)", "F": "(a, entity)", "G": "(a, a, a)", "U": "(a)", "V": "(entity)"}


def recursive(seed: int) -> str:
    """Rules of up to five literals that feed each other; variables may stand several times, beside constants."""
    rng = random.Random(seed)
    names = [f"n{i}" for i in range(5)]
    lines = [f"predicate {name}{sorts}{rng.choice(['', ' closed'])}" for name, sorts in SORTS.items()]
    lines += [
        f"predicate {name}({', '.join(['entity'] * ARITIES[name])}){rng.choice(['', '', ' closed'])}" for name in "PQRS"
    ]
    for name in FACTS:
        for _ in range(rng.choice([3, 8, 12, 16])):
            arguments = ", ".join(rng.choice(names) for _ in range(ARITIES[name]))
            lines.append(f"fact {name}({arguments}){rng.choice(['', '', '', ' = 0.75', ' in [0, 1]'])}")
    lines += [f"fact U({name})" for name in names[:2]] + ["fact V(m)"]

    def atom(name: str, variables: str) -> str:
        terms = [rng.choice(variables) if rng.random() < 0.93 else rng.choice(names) for _ in range(ARITIES[name])]
        return f"{name}({', '.join(terms)})"

    closed = {line.split("(")[0].split()[1] for line in lines if line.endswith(" closed")}
    for layer, head in enumerate("PQRSPQRS"[: rng.choice([3, 4, 6])]):
        if layer and rng.random() < 0.2 and head not in closed:
            lines.append(f"rule {atom(head, 'XY')} -> {atom(rng.choice('QS'), 'XY')}")
        variables = rng.choice(["XY", "XYZ", "XYZ", "XYZW"])
        body = [
            atom(rng.choice(FACTS + FACTS + "PQRS"[: 1 + "PQRS".index(head)]), variables)
            for _ in range(rng.choice([1, 2, 2, 3, 3, 4]))
        ]
        used = sorted({term for term in variables if any(term in part for part in body)}) or ["n0"]
        negated = [f"~{part}" if part[0] in FACTS and rng.random() < 0.1 else part for part in body]
        arguments = [rng.choice(used) for _ in range(ARITIES[head])]
        inner = [term for term in used if term not in arguments and term in variables]
        text = " & ".join(negated)
        if inner and rng.random() < 0.6:
            text = f"(exists {', '.join(inner)}: {text})"
        lines.append(f"rule {text} -> {head}({', '.join(arguments)})")
    lines += [f"query {name}({', '.join('XYZ'[: ARITIES[name]])})" for name in "PQRS"]
    return "\n".join(dict.fromkeys(lines)) + "\n"


def cut(patch: pytest.MonkeyPatch, rng: random.Random) -> None:
    """Work small programs out as large ones: in parts, and by keys that are searched, of few columns."""
    patch.setattr(literal_join, "CHUNK", rng.choice([1, 3, 100, 100]))
    patch.setattr(literal_join, "_TRIED", rng.choice([1, 6]))
    patch.setattr(join_index, "_DENSE", rng.choice([0, 2**16]))
    patch.setattr(join_index, "_BITS", rng.choice([5, 10, 62, 62]))


@pytest.mark.parametrize("block", at_length([*range(12)], plain=3))
def test_rules_that_feed_each_other(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with watched() as watching:
        for seed in range(5 * block, 5 * block + 5):
            cut(monkeypatch, random.Random(seed))
            lnnkit.loads(recursive(seed)).plan()
    assert watching.compared > 0


@pytest.mark.parametrize("seed", at_length([*range(12)], plain=3))
def test_joins_of_a_fixpoint(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All assignments of a rule, those in which some atom is one of some rows, and those of some entity; also when
    entities join and leave sorts."""
    rng, checked, rules = random.Random(seed), 0, list[DeltaRule]()
    cut(monkeypatch, rng)
    drawn = generate(seed, 4, MODES[seed % 3], equal=0.1 * (seed % 2), linked=0.5 * (seed % 2))
    kb = lnnkit.loads(recursive(seed) if seed % 3 else to_text(compared(seed) if seed % 2 else drawn.program))
    kb.infer()
    for response in kb._session.program_fixpoint().run.responses.values():
        rule = response.rule
        wanted = rule.formula.blocks[0].variables
        needs = [Loops(rule.joins, need) for need in rule._needs]
        exact = all(isinstance(literal, Literal) for need in rule._needs for literal in need)
        if not exact or not wanted or any(loops.count > MOST for loops in needs):
            continue
        satisfied = [loops.every(need) for loops, need in zip(needs, rule._needs, strict=True)]
        checked += 1
        asked, made = list[int](), max(rule.joins.made.values(), default=0)
        monkeypatch.setattr(rule.joins, "_guard", lambda _formula, count, asked=asked: asked.append(count))
        assert rows_of(rule, rule.whole()) == rows(needs, satisfied)
        chosen = rng.sample(wanted, rng.randint(1, len(wanted)))
        entities = {v: int(rng.choice(rule.joins.domain.sorts[rule.joins.formula.sorts[v]])) for v in chosen}
        flags = [np.all([loops.column(v) == entities[v] for v in chosen], axis=0) for loops in needs]
        assert rows_of(rule, rule.extending(entities)) == rows(needs, satisfied, flags)
        for leaf in response.shape.targets:
            table, atom = rule.table_of(leaf), rule.atom(leaf)
            some = np.array(sorted(rng.sample(range(len(table)), min(len(table), 3))), np.int32)
            if len(some) and {*wanted}.issuperset(term for term in atom[1] if isinstance(term, int)):
                flags = [loops.among(atom, some) for loops in needs]
                assert rows_of(rule, rule.reaching(atom, some)) == rows(needs, satisfied, flags)
        assert max(asked, default=0) <= made  # what was found before is not counted again
        new_members(rule, rng)
        if not rule._repeats:
            rules.append(rule)
    assert checked
    stored(kb._session.program_fixpoint().run)
    departed(rules, rng)


def stored(run: Run) -> None:
    """Instances that set a bound name their atoms, and those of a rule are found again by their rows."""
    grounding = run.grounding
    for number, shape in enumerate(grounding.shapes):
        block, every = shape.blocks[0], np.arange(len(shape.blocks[0]))
        found = np.full(len(every), -1)
        for formula, places, free in grounding.assignments(number, every):
            (member,) = {*block.member[places].tolist()}
            rule = grounding.members[shape.members[member]]
            rule = rule if isinstance(rule, DeltaRule) else rule.finder
            assert formula is rule.formula.original and (found[places] < 0).all()
            found[places] = member
            columns = grounding.variables(number, rule, places)
            assert all(map(np.array_equal, free(), columns[: len(formula.blocks[0].variables)]))
            ids = dict(zip(rule.formula.blocks[0].variables, columns, strict=len(shape.blocks) == 1))
            for leaf in rule.formula.read if len(shape.blocks) == 1 else ():
                pattern, rows = rule.pattern(rule.atom(leaf)), block.columns[leaf].values.take(places)
                now = pattern.table.tuples.find(pattern.tuples(ids.__getitem__, len(places)), len(places))
                assert (rows == now)[rows >= 0].all()  # other atoms may have been made since
        assert (found >= 0).all()


def new_members(rule: DeltaRule, rng: random.Random) -> None:
    """Assignments in which an entity that joins a sort is the value of a variable that no literal has in a position of
    this sort."""
    joins, sorts = rule.joins, dict(zip(rule.formula.blocks[0].variables, rule.formula.sorts, strict=False))
    free = [{v for v, sort in sorts.items() if sort not in positions(joins, need, v)} for need in rule._needs]
    assert rule.unrestricted_sorts == {sorts[v] for variables in free for v in variables}
    chosen = rng.sample(sorted({*sorts.values()}), rng.randint(1, len({*sorts.values()})))
    joining = {sort: np.array(sorted(rng.sample([*joins.domain.sorts[sort]], 1)), np.int32) for sort in chosen}
    loops = [Loops(joins, need) for need in rule._needs]
    satisfied = [each.every(need) for each, need in zip(loops, rule._needs, strict=True)]
    new = list[Array]()
    for each, variables in zip(loops, free, strict=True):
        having = (each.column(v) == joining[sorts[v]] for v in variables if sorts[v] in joining)
        new.append(np.any([np.zeros(each.count, bool), *having], axis=0))
    assert rows_of(rule, rule.with_new_members(joining)) == rows(loops, satisfied, new)


def positions(joins: Joins, literals: Literals, variable: int) -> set[str]:
    """The sorts of the positions in which literals have a variable; an equality binds none."""
    return {
        sort
        for literal in listing(literals)
        for term, sort in zip(literal.arguments, joins.atoms.tables[literal.table].sorts, strict=True)
        if term == variable and literal.table != EQUAL
    }


def departed(rules: Sequence[DeltaRule], rng: random.Random) -> None:
    """Nothing is found of entities that have left a sort, though lists still have them."""
    domain = rules[0].joins.domain
    for sort, ids in [*domain.sorts.items()]:
        domain.change_members(
            sort, np.empty(0, np.int32), np.array(sorted(rng.sample([*ids], len(ids) // 3)), np.int32)
        )
    for rule in rules:
        loops, satisfied = [Loops(rule.joins, need) for need in rule._needs], list[Array]()
        for each, need in zip(loops, rule._needs, strict=True):
            satisfied.append(each.every(need))
        assert rows_of(rule, rule.all_assignments()) == rows(loops, satisfied)


def rows_of(rule: DeltaRule, parts: Iterable[Bindings]) -> Rows:
    return {row for part in parts for row in tuples(part, rule.formula.blocks[0].variables)}


def rows(needs: Sequence[Loops], *flags: Sequence[Array]) -> Rows:
    """What the loops over the needs find where all flags are set."""
    return set().union(
        *(loops.found(np.all(where, axis=0), loops.wanted) for loops, *where in zip(needs, *flags, strict=True))
    )


def test_formulas_of_all_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    with watched() as watching:
        for seed in range(10):
            cut(monkeypatch, random.Random(seed))
            drawn = generate(seed, 2 + seed % 5, MODES[seed % 3], equal=0.1 * (seed % 2), linked=0.5 * (seed % 2))
            lnnkit.loads(to_text(drawn.program)).plan()
    assert watching.compared > 60 and watching.due_rows > 20 and watching.steps > 10 and watching.counts > 10


def test_comparisons_that_limit_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    with watched() as watching:
        for seed in range(10):
            cut(monkeypatch, random.Random(seed))
            lnnkit.loads(to_text(compared(seed))).plan()
    assert watching.compared > 100 and watching.demanded_rows > 0


def measured(seed: int) -> str:
    """Rules of up to four literals, some entities of which have numbers that are compared; the numbers are facts."""
    rng = random.Random(seed)
    names = [f"n{i}" for i in range(5)]
    lines = ["predicate E(n, n)", "predicate F(n, n) closed", "predicate U(n)"]
    lines += [f"number {name}(n){rng.choice(['', ' closed'])}" for name in "ab"] + ["number c(n, n)"]
    for name in "EEFF":
        facts = (f"fact {name}({rng.choice(names)}, {rng.choice(names)})" for _ in range(rng.choice([4, 9])))
        lines += [f"{fact}{rng.choice(['', '', ' in [0.5, 1]'])}" for fact in facts]
    lines += [f"fact U({name})" for name in names if rng.random() < 0.8]
    for name, of in [
        *((name, one) for name in "ab" for one in names),
        *(("c", f"{x}, {y}") for x in names for y in names),
    ]:
        if rng.random() < 0.8:
            low = rng.randrange(4)
            lines.append(f"fact {name}({of}) in [{low}, {low + rng.choice([0, 0, 1])}]")
    for head in "PQR":
        variables = rng.choice(["XY", "XYZ", "XYZW"])
        body = [f"{rng.choice('EF')}({x}, {y})" for x, y in itertools.pairwise(rng.sample(variables, len(variables)))]
        body += [f"U({x})" for x in variables if rng.random() < 0.3]
        for _ in range(rng.choice([1, 1, 2])):
            one, other = (_term(rng, variables) for _ in range(2))
            body.append(f"{one} {rng.choice(['<', '<=', '>='])} {other}{rng.choice(['', ' + 1', ' - 0.5'])}")
        free = ", ".join(rng.sample(variables, rng.choice([1, 2])))
        lines.append(f"rule {' & '.join(body)} -> {head}({free})\nquery {head}({free})")
    return "\n".join(dict.fromkeys(lines)) + "\n"


def _term(rng: random.Random, variables: str) -> str:
    name = rng.choice("aabbc")
    return f"{name}({', '.join(rng.choice(variables) for _ in range(1 + (name == 'c')))})"


@pytest.mark.parametrize("block", range(4))
def test_numbers_that_limit_joins_of_several_literals(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ranged = 0
    with watched() as watching:
        for seed in range(6 * block, 6 * block + 6):
            cut(monkeypatch, random.Random(seed))
            plan = lnnkit.loads(measured(seed)).plan()
            steps = [step for statement in plan.statements for join in statement.joins for step in join.steps]
            ranged += sum(step.reads.startswith("range") for step in steps)
    assert watching.compared > 10 and ranged


@pytest.mark.parametrize("seed", range(3))
def test_keys_of_fewer_columns_than_are_bound(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of two entities fits into a key; the other one is compared."""
    monkeypatch.setattr(join_index, "_BITS", 5)
    rng = random.Random(seed)
    lines = [f"fact G(n{rng.randrange(5)}, n{rng.randrange(5)}, n{rng.randrange(5)})" for _ in range(40)]
    lines += [f"fact E(n{rng.randrange(5)}, n{rng.randrange(5)})" for _ in range(8)]
    lines += ["rule E(X, Y) & G(X, Y, Z) -> P(X, Z)", "rule P(X, Y) & G(X, Z, Y) -> E(Y, Z)", "query P(X, Y)"]
    with watched() as watching:
        lnnkit.loads("\n".join(dict.fromkeys(lines)) + "\n").plan()
    assert watching.compared > 5
