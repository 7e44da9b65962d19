"""The stories of FOLIO as knowledge bases: 340 sets of axioms that people wrote, most with quantifiers.

Z3 is the judge, over the finite domain of a story's named entities. Its models are the crisp worlds, and each is a
Lukasiewicz (product, Goedel) world too; so where one exists there is no contradiction to report, and a bound above 0
or below 1 must hold in all of them. The engine is sound, not complete: what it leaves unknown is not judged.
"""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

import lnnkit
from lnnkit.syntax import ast

DATA = Path(os.environ.get("LNNKIT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
FILE = DATA / "folio" / "folio-train.jsonl"
LOGICS = ("lukasiewicz", "godel", "product")
BUDGET = 200_000  # groundings of one axiom: stories are small

pytestmark = pytest.mark.skipif(not FILE.is_file(), reason=f"no FOLIO data at {FILE}; set LNNKIT_DATA")

Place = tuple[str, tuple[str, ...]]


# --- stories ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Story:
    """The axioms of a story that parse, with what they mention."""

    number: int
    axioms: tuple[ast.Expression, ...]
    texts: tuple[str, ...]
    predicates: Mapping[str, int]
    entities: tuple[str, ...]

    def text(self, logic: str = "lukasiewicz") -> str:
        """The program: every predicate declared and asked for."""
        lines = [f"logic {logic}"]
        for name, arity in self.predicates.items():
            variables = ", ".join(f"V{i}" for i in range(arity))
            sorts = ", ".join(["entity"] * arity)
            quoted = json.dumps(name, ensure_ascii=False)
            lines.append(f"predicate {quoted}({sorts})" if arity else f"predicate {quoted}")
            lines.append(f"query {quoted}({variables})" if arity else f"query {name}")
        lines += [
            "predicate Named(entity)",
            *(f"fact Named({json.dumps(e, ensure_ascii=False)})" for e in self.entities),
        ]
        return "\n".join([*lines, *(f"axiom {text}" for text in self.texts)]) + "\n"

    def with_strangers(self, count: int) -> Story:
        """The same over a larger domain: existential axioms find someone."""
        return replace(self, entities=(*self.entities, *(f"stranger {i}" for i in range(count))))


@cache
def stories() -> dict[int, Story]:
    """The stories whose predicates keep to one arity, by number."""
    premises: dict[int, list[str]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        premises.setdefault(row["story_id"], row["premises-FOL"])
    found = {number: read(number, texts) for number, texts in sorted(premises.items())}
    return {number: story for number, story in found.items() if story is not None}


def read(number: int, premises: Sequence[str]) -> Story | None:
    axioms, texts = [], []
    predicates: dict[str, int] = {}
    entities: set[str] = set()
    for premise in premises:
        text = " ".join(premise.split())
        try:
            (statement,) = lnnkit.parse(f"axiom {text}").statements
        except (lnnkit.ProgramError, ValueError):
            continue  # tests/syntax/test_folio.py knows the malformed ones
        assert isinstance(statement, ast.AxiomStatement)
        axioms.append(statement.formula)
        texts.append(text)
        for atom in atoms(statement.formula):
            if predicates.setdefault(atom.name, len(atom.arguments)) != len(atom.arguments):
                return None
            entities |= {argument.text for argument in atom.arguments if isinstance(argument, ast.Constant)}
    return Story(number, tuple(axioms), tuple(texts), predicates, tuple(sorted(entities)))


def operands(formula: ast.Expression) -> tuple[ast.Expression, ...]:
    match formula:
        case ast.And() | ast.Or() | ast.Comparison():
            return formula.operands
        case ast.Not() | ast.Weighted():
            return (formula.operand,)
        case ast.Implies():
            return formula.antecedent, formula.consequent
        case ast.Iff() | ast.Xor():
            return formula.left, formula.right
        case ast.Forall() | ast.Exists():
            return (formula.body,)
    return ()


def atoms(formula: ast.Expression) -> Iterator[ast.Atom]:
    if isinstance(formula, ast.Atom):
        yield formula
    elif not isinstance(formula, ast.Comparison):
        for part in operands(formula):
            yield from atoms(part)


def free(formula: ast.Expression, bound: frozenset[str] = frozenset()) -> set[str]:
    if isinstance(formula, ast.Atom):
        return {a.name for a in formula.arguments if isinstance(a, ast.Variable)} - bound
    if isinstance(formula, ast.Comparison):
        return {o.name for o in formula.operands if isinstance(o, ast.Atom) and o.name[0].isupper()} - bound
    if isinstance(formula, ast.Forall | ast.Exists):
        bound |= {variable.name for variable in formula.variables}
    return set().union(*(free(part, bound) for part in operands(formula)))


# --- the judge --------------------------------------------------------------------------------------------------------


class Judge:
    """A story over its named entities, in Z3: one Boolean for each ground atom."""

    def __init__(self, story: Story, z3) -> None:
        self.z3 = z3
        self.story = story
        self.solver = z3.Solver()
        self.solver.set("timeout", 20_000)
        for axiom in story.axioms:
            for env in self.rows(sorted(free(axiom))):
                self.solver.add(self.formula(axiom, env))

    def rows(self, names: Sequence[str]) -> Iterator[dict[str, str]]:
        for row in itertools.product(self.story.entities, repeat=len(names)):
            yield dict(zip(names, row, strict=True))

    def atom(self, place: Place):
        return self.z3.Bool(f"{place[0]}({', '.join(place[1])})")

    def formula(self, formula: ast.Expression, env: Mapping[str, str]):
        z3 = self.z3
        parts = [] if isinstance(formula, ast.Forall | ast.Exists | ast.Comparison) else operands(formula)
        inner = [self.formula(part, env) for part in parts]
        match formula:
            case ast.Atom():
                names = (env[a.name] if isinstance(a, ast.Variable) else a.text for a in formula.arguments)
                return self.atom((formula.name, tuple(names)))
            case ast.Truth():
                return z3.BoolVal(formula.value)
            case ast.Not():
                return z3.Not(*inner)
            case ast.And():
                return z3.And(*inner)
            case ast.Or():
                return z3.Or(*inner)
            case ast.Implies():
                return z3.Implies(*inner)
            case ast.Iff():
                return inner[0] == inner[1]
            case ast.Xor():
                return z3.Xor(*inner)
            case ast.Forall() | ast.Exists():
                names = [variable.name for variable in formula.variables]
                rows = [self.formula(formula.body, {**env, **row}) for row in self.rows(names)]
                return z3.And(*rows) if isinstance(formula, ast.Forall) else z3.Or(*rows)
            case ast.Comparison():
                left, right = (self.entity(operand, env) for operand in formula.operands)
                return z3.BoolVal((left == right) == (formula.operators == ("=",)))
        raise TypeError(type(formula))

    def entity(self, operand: ast.Expression, env: Mapping[str, str]) -> str:
        if isinstance(operand, ast.Entity):
            return operand.text
        assert isinstance(operand, ast.Atom)
        return env.get(operand.name, operand.name)

    def satisfiable(self) -> bool | None:
        result = self.solver.check()
        return None if result == self.z3.unknown else result == self.z3.sat

    def entails(self, place: Place, value: bool) -> bool:
        denied = self.z3.Not(self.atom(place)) if value else self.atom(place)
        return self.solver.check(denied) == self.z3.unsat


def judge(story: Story, logic: str = "lukasiewicz") -> tuple[str, list[str], int]:
    """How the story fares: what became of it, what is wrong, and how many atoms were settled."""
    z3 = pytest.importorskip("z3")
    try:
        kb = lnnkit.loads(story.text(logic))
    except lnnkit.ProgramError as error:
        return "refused: " + ", ".join(sorted({d.code for d in error.diagnostics})), [], 0
    outcome = kb.infer(max_groundings=BUDGET, max_rounds=1000)
    judged = Judge(story, z3)
    satisfiable = judged.satisfiable()
    if not satisfiable:
        name = "unsatisfiable" if satisfiable is False else "undecided"
        return f"{name}, {'contradictions' if outcome.contradictions else 'none found'}", [], 0
    wrong = [f"contradiction: {contradiction}" for contradiction in outcome.contradictions]
    if outcome.status != "converged":
        wrong.append(f"status {outcome.status}")
    settled = 0
    for answers, name in zip(kb.answers(), story.predicates, strict=True):
        for answer in answers:
            place = name, tuple(answer.bindings.values())
            for informative, value in ((answer.lower > 1e-9, True), (answer.upper < 1 - 1e-9, False)):
                settled += informative
                if informative and not judged.entails(place, value):
                    wrong.append(f"{place} in [{answer.lower}, {answer.upper}] is not entailed")
    return "satisfiable", wrong, settled


def judge_all(some: Sequence[Story], logic: str = "lukasiewicz") -> tuple[Counter[str], list[str], int]:
    fates: Counter[str] = Counter()
    wrong: list[str] = []
    settled = 0
    for story in some:
        fate, faults, count = judge(story, logic)
        fates[fate] += 1
        wrong += [f"story {story.number} ({logic}): {fault}" for fault in faults]
        settled += count
    return fates, wrong, settled


# --- the tests --------------------------------------------------------------------------------------------------------


def some(every: int) -> list[Story]:
    return list(stories().values())[::every]


@pytest.mark.slow
@pytest.mark.parametrize("strangers", [0, 1, 3])
@pytest.mark.parametrize("logic", LOGICS)
def test_every_story_is_sound(logic: str, strangers: int) -> None:
    """With fewer entities than an existential axiom needs, some are unsatisfiable; the engine finds most of those."""
    fates, wrong, settled = judge_all([story.with_strangers(strangers) for story in stories().values()], logic)
    assert wrong == []
    assert fates["satisfiable"] >= (325 if strangers else 290)
    assert settled >= 900
    assert fates["unsatisfiable, contradictions"] >= fates["unsatisfiable, none found"]
    refused = [fate for fate in fates if fate.startswith("refused")]
    assert sum(fates[fate] for fate in refused) <= 10


@pytest.mark.slow
def test_most_stories_are_accepted() -> None:
    """The rest are named mistakes: a variable bound and free, bound twice, or never used; a truth value as a number."""
    refused: Counter[str] = Counter()
    for story in some(every=1):
        try:
            lnnkit.loads(story.text())
        except lnnkit.ProgramError as error:
            refused.update({diagnostic.code for diagnostic in error.diagnostics})
    assert len(stories()) >= 335
    assert sum(refused.values()) <= 14
    assert set(refused) <= {
        "bound-and-free",
        "lower-case-variable",
        "shadowed-variable",
        "truth-as-number",
        "unused-variable",
    }


def test_the_order_of_axioms_does_not_matter() -> None:
    """Bitwise, contradictions included."""
    for story in some(every=30):
        turned = replace(story, texts=story.texts[::-1])
        try:
            one, other = lnnkit.loads(story.text()), lnnkit.loads(turned.text())
        except lnnkit.ProgramError:
            continue
        assert table(one) == table(other), story.number


def table(kb: lnnkit.KnowledgeBase) -> tuple[object, ...]:
    outcome = kb.infer(max_groundings=BUDGET)
    found = sorted((c.kind, c.atom, c.lower, c.upper) for c in outcome.contradictions)
    return outcome.status, outcome.rounds, found, [answers.as_dict() for answers in kb.answers()]


def test_the_judge_is_awake() -> None:
    """It knows a consequence from a non-consequence, quantifiers and the empty domain."""
    z3 = pytest.importorskip("z3")
    story = read(0, ["∀x (P(x) → Q(x))", "P(a)", "∃x ¬P(x)", "R(b) ∨ R(a)", "S(a) ⊕ P(a)"])
    assert story is not None
    judged = Judge(story, z3)
    assert judged.satisfiable() is True
    assert judged.entails(("Q", ("a",)), True)
    assert judged.entails(("P", ("b",)), False)  # someone is no P, and a is one
    assert judged.entails(("S", ("a",)), False)
    assert not judged.entails(("R", ("a",)), True)
    nobody = read(0, ["∃x P(x)"])
    assert nobody is not None
    assert Judge(nobody, z3).satisfiable() is False
    assert Judge(nobody.with_strangers(1), z3).entails(("P", ("stranger 0",)), True)
