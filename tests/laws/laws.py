"""The laws, by name. A law maps a program to what breaks it, in words: an empty list where nothing does, None where it
says nothing of the program. Most say nothing of programs with contradictions: there one statement may move another's.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import lnnkit
from tests.laws.reading import Key, Reading, all_differences, differences, looser, read, read_kb
from tests.laws.rewriting import (
    entities_of,
    is_crisp,
    is_plain,
    map_leaves,
    negated,
    of_all_atoms,
    parts_of,
    renamed,
    without_false_implications,
)
from tests.oracle import Box, Fact, Formula, Predicate, Program, Statement
from tests.oracle.program import NEURONS, QUANTIFIERS, free_variables, operands, subformulas
from tests.programs import to_text

Law = Callable[[Program], "list[str] | None"]


def _random(program: Program) -> random.Random:
    return random.Random(to_text(program))


def _shown(wrong: list[str], other: Program) -> list[str]:
    return [*wrong, f"as:\n{to_text(other)}"] if wrong else []


def _same(program: Program, other: Program) -> list[str] | None:
    """The same answers to the program's queries, where neither contradicts itself."""
    one, two = read(program), read(other)
    if not (one.clean and two.clean):
        return None
    return _shown(differences(one, two, queries=len(program.queries)), other)


# --- whatever contradicts itself --------------------------------------------------------------------------------------


def in_any_order(program: Program) -> list[str]:
    """Facts, statements and declarations in another order: the same to the last bit, rounds and contradictions too."""
    shuffle = _random(program)
    facts, statements, predicates = list(program.facts), list(program.statements), list(program.predicates)
    for items in (facts, statements, predicates):
        shuffle.shuffle(items)
    other = replace(program, facts=facts, statements=statements, predicates=predicates)
    return _shown(all_differences(read(program), read(other)), other)


def rows_repeated(program: Program) -> list[str]:
    """Facts listed again say nothing new."""
    rng = _random(program)
    facts = [*program.facts, *(fact for fact in program.facts if rng.random() < 0.5)]
    rng.shuffle(facts)
    other = replace(program, facts=facts)
    return _shown(all_differences(read(program), read(other)), other)


def names_are_names(program: Program) -> list[str]:
    """Predicates, entities, variables and sorts renamed, so that they sort the other way round."""

    def turned(names: list[str], stem: str) -> dict[str, str]:
        return {name: f"{stem}{number:03}" for number, name in enumerate(sorted(names, reverse=True))}

    variables = {name for part in parts_of(program) for name in free_variables(part)}
    variables |= {name for part in parts_of(program) if part[0] in QUANTIFIERS for name in part[1]}
    predicates = turned([each.name for each in program.predicates], "zeta")
    entities, sorts = turned(entities_of(program), "omega"), turned([*program.sorts], "psi")
    other = renamed(program, predicates, entities, turned([*variables], "W"), sorts)
    back = {new: old for names in (predicates, entities) for old, new in names.items()}
    variables_back = {new: old for old, new in turned([*variables], "W").items()}
    found = read(other)
    answers = {
        (number, frozenset((variables_back[name], back.get(value, value)) for name, value in bindings)): box
        for (number, bindings), box in found.answers.items()
    }
    one = read(program)
    own, theirs = (Reading(each, Counter(), "", 0) for each in (one.answers, answers))
    wrong = all_differences(own, theirs)
    if _outcome(one) != _outcome(found):
        wrong.append(f"{_outcome(one)}, then {_outcome(found)}")
    return _shown(wrong, other)


def _outcome(reading: Reading) -> tuple[str, int, Counter[tuple[str, float, float]]]:
    """All but the names in contradictions."""
    crossed: Counter[tuple[str, float, float]] = Counter()
    for (kind, _, lower, upper), count in reading.contradictions.items():
        crossed[kind, lower, upper] += count
    return reading.status, reading.rounds, crossed


# --- what changes nothing ---------------------------------------------------------------------------------------------


def stated_twice(program: Program) -> list[str] | None:
    """A statement repeated."""
    if not program.statements:
        return None
    again = _random(program).choice(program.statements)
    return _same(program, replace(program, statements=[*program.statements, again]))


def a_head_of_its_own(program: Program) -> list[str] | None:
    """A rule from something that the program says to a predicate that nothing else speaks of, which is asked for."""
    rng = _random(program)
    said = replace(program, queries=[])  # entities of queries alone are none of the program
    bodies = [part for part in parts_of(said) if part[0] in NEURONS and _placed(part)]
    if not bodies:
        return None
    narrow = [part for part in _narrower_than_around(said) if part in bodies]
    body = rng.choice(narrow if narrow and rng.random() < 0.7 else bodies)
    left: Formula = ("not", body) if rng.random() < 0.3 else body
    others = [
        part for part in parts_of(said) if part[0] == "atom" and {*free_variables(part)} <= {*free_variables(body)}
    ]
    if others and rng.random() < 0.5:
        left = ("and", ((1.0, left), (1.0, rng.choice(others))), 1.0, None)
    head = ("atom", "Own", tuple(("var", name) for name in free_variables(body)))
    rule = Statement("rule", ("implies", (1.0, left), (1.0, head), 1.0, None))
    return _same(program, replace(program, statements=[*program.statements, rule], queries=[*program.queries, head]))


def _narrower_than_around(program: Program) -> list[Formula]:
    """Parts with fewer variables than what they stand in: several instances share their values."""
    return [
        inner
        for part in parts_of(program)
        for inner in operands(part)
        if len(free_variables(inner)) < len(free_variables(part))
    ]


def _placed(formula: Formula) -> bool:
    """Whether each of its free variables stands in an atom."""
    placed = {text for part in subformulas(formula) if part[0] == "atom" for kind, text in part[2] if kind == "var"}
    return {*free_variables(formula)} <= placed


def asked_more(program: Program) -> list[str] | None:
    """Queries of parts of the program change no answer to others."""
    parts = [part for part in parts_of(program) if part[0] in NEURONS and _placed(part)]
    if not parts:
        return None
    more = _random(program).sample(parts, min(2, len(parts)))
    return _same(program, replace(program, queries=[*program.queries, *more]))


def a_name_for_a_negation(program: Program) -> list[str] | None:
    """A predicate replaced by the negation of another one."""
    names = [each.name for each in program.predicates if not (each.closed or each.numeric)]
    return _same(program, negated(program, _random(program).choice(names), "Contrary")) if names else None


def told_later(program: Program) -> list[str] | None:
    """Facts told after an inference, instead of being read with the program."""
    rng = _random(program)
    declared = {each.name for each in program.predicates if each.sorts is not None and each.arity}
    later = [fact for fact in program.facts if fact.predicate in declared and rng.random() < 0.5]
    names = [name for fact in program.facts if fact not in later for name in fact.arguments]
    if not later or not {*entities_of(program)} <= {*names}:
        return None
    one = read(program)
    kb = lnnkit.loads(to_text(replace(program, facts=[fact for fact in program.facts if fact not in later])))
    before = kb.infer()
    for predicate in sorted({fact.predicate for fact in later}):
        kb.tell(predicate, [(*each.arguments, each.lower, each.upper) for each in later if each.predicate == predicate])
    two = read_kb(kb)
    clean = one.clean and two.clean and before.status == "converged" and not before.contradictions
    return (
        [*differences(one, two), *(f"told later: {fact}" for fact in later)] * bool(differences(one, two))
        if clean
        else None
    )


def _sorts(program: Program, formula: Formula) -> set[tuple[str, str]]:
    """The variables in the atoms of a formula, each with the sorts of its places."""
    sorts = {each.name: each.sorts for each in program.predicates}
    return {
        (name, sort)
        for part in subformulas(formula)
        if part[0] == "atom"
        for (kind, name), sort in zip(part[2], sorts[part[1]] or ("",) * len(part[2]), strict=True)
        if kind == "var"
    }


def heads_apart(program: Program) -> list[str] | None:
    """A rule with two heads, and two rules of one each: the same in Goedel logic, and of crisp programs in all."""
    rng = _random(program)
    rules = [
        each
        for each in program.statements
        if each.formula[0] == "implies"
        and each.formula[2][1][0] == "atom"
        and each.upper == 1
        and is_plain(each.formula)
    ]
    if not rules or not (program.logic == "godel" or is_crisp(program)):
        return None
    rule = rng.choice(rules)
    kind, left, (_, head), *attributes = rule.formula
    closed = {each.name for each in program.predicates if each.closed}
    atoms = [part for part in parts_of(program) if part[0] == "atom" and part[1] not in closed and part != head]
    atoms = [part for part in atoms if {*free_variables(part)} <= {*free_variables(left[1])}]
    # A head that gives a variable another sort makes another rule.
    atoms = [part for part in atoms if _sorts(program, part) <= _sorts(program, left[1])]
    if not atoms or not {*free_variables(left[1])} <= {name for name, _ in _sorts(program, left[1])}:
        return None
    second = rng.choice(atoms)
    both: Formula = ("and", ((1.0, head), (1.0, second)), 1.0, None)
    others = [each for each in program.statements if each is not rule]

    def with_heads(*heads: Formula) -> Program:
        made = [rule._replace(formula=(kind, left, (1.0, each), *attributes)) for each in heads]
        # A query that is one of the two rules would be answered by what that rule states.
        return replace(program, statements=[*others, *made], queries=of_all_atoms(program))

    one, two = with_heads(both), with_heads(head, second)
    wrong = _same(one, two)
    return wrong and [f"of:\n{to_text(one)}", *wrong]


def logics_alike(program: Program) -> list[str] | None:
    """A crisp program says the same in the three logics."""
    program = without_false_implications(program)
    if not is_crisp(program):
        return None
    wrong: list[str] = []
    for logic in ("lukasiewicz", "product", "godel"):
        found = _same(program, replace(program, logic=logic))
        if found is None:
            return None
        wrong += found
    return wrong


# --- what says more ---------------------------------------------------------------------------------------------------


def tightened(program: Program) -> list[str] | None:
    """A fact that says more, or a new one of what is derived: no answer gets looser."""
    rng = _random(program)
    one = read(program)
    if not one.clean:
        return None
    facts = list(program.facts)
    wide = [place for place, fact in enumerate(facts) if fact.upper - fact.lower > 0.01 and abs(fact.upper) < 1e9]
    wide = [place for place in wide if abs(facts[place].lower) < 1e9]
    for place in rng.sample(wide, min(2, len(wide))):
        facts[place] = _narrower(facts[place], rng)
    if not wide or rng.random() < 0.5:
        opened = {each.name: each for each in program.predicates if not (each.closed or each.numeric)}
        asked = replace(program, queries=of_all_atoms(program))
        known = [
            Fact(asked.queries[number][1], tuple(dict(bindings)[f"V{n}"] for n in range(len(bindings))), low, high)
            for (number, bindings), (low, high) in sorted(read(asked).answers.items(), key=repr)
            if asked.queries[number][1] in opened and high - low > 0.01
        ]
        if known:
            facts.append(_narrower(rng.choice(known), rng))
    if facts == program.facts:
        return None
    other = replace(program, facts=facts)
    two = read(other)
    if not two.clean:
        return None
    gone = {key: _value(other, key) for key in one.answers.keys() - two.answers.keys()}
    two = replace(two, answers={**two.answers, **gone})
    return _shown(looser(one, two), other)


def _value(program: Program, key: Key) -> Box:
    """The bounds of a row that is not answered, which are its query's default: asked for by itself."""
    number, bindings = key
    found = dict(bindings)

    def argument(given: tuple[str, str]) -> tuple[str, str]:
        kind, text = given
        return ("const", found[text]) if kind == "var" and text in found else given

    ground = map_leaves(program.queries[number], lambda atom: atom, argument)
    ((_, box),) = read(replace(program, queries=[ground])).answers.items()
    return box


def _narrower(fact: Fact, rng: random.Random) -> Fact:
    low, high = sorted(fact.lower + rng.choice([0.0, 0.25, 0.5, 1.0]) * (fact.upper - fact.lower) for _ in range(2))
    return fact._replace(lower=low, upper=high)


# --- rule by rule -----------------------------------------------------------------------------------------------------


def rule_by_rule(program: Program) -> list[str] | None:
    """Each statement by itself, over and over, with what has been found of the atoms as facts: what comes of it is no
    tighter than the whole, and the same where no two statements share more than atoms. Those that define closed
    predicates stay together, and come first: they are completed as one."""
    if any(each.numeric for each in program.predicates) or any(each.sorts is None for each in program.predicates):
        return None
    asked = replace(program, queries=of_all_atoms(program))
    whole = read(asked)
    if not whole.clean:
        return None
    present = [Predicate(f"Present{sort}", 1, (sort,)) for sort in ("entity", *program.sorts)]
    domains = _domains(program)
    if domains is None:
        return None
    there = [Fact(f"Present{sort}", (name,), 1.0, 1.0) for sort, names in domains.items() for name in names]
    base = replace(asked, predicates=[*asked.predicates, *present], facts=[*asked.facts, *there])
    closed = {each.name for each in program.predicates if each.closed}
    defining = [each for each in program.statements if _heads(each.formula) & closed]
    groups = [defining, *([each] for each in program.statements if each not in defining)]
    base_closed = closed - {name for each in defining for name in _heads(each.formula)}
    known: dict[tuple[int, tuple[str, ...]], tuple[float, float]] = {}
    for _ in range(30):
        before = dict(known)
        for group in groups:
            found = [
                Fact(asked.queries[number][1], row, low, high)
                for (number, row), (low, high) in sorted(known.items())
                if asked.queries[number][1] not in (closed if group == defining else base_closed)
            ]
            reading = read(replace(base, statements=group, facts=[*base.facts, *found]))
            if not reading.clean:
                return [f"by itself {reading.status}, {len(reading.contradictions)} contradictions: {group}"]
            for (number, bindings), (low, high) in reading.answers.items():
                row = tuple(dict(bindings)[f"V{n}"] for n in range(len(bindings)))
                own = known.get((number, row), (0.0, 1.0))
                known[number, row] = max(own[0], low), min(own[1], high)
        if known == before:
            break
    else:
        return None
    keyed = {
        (number, frozenset((f"V{n}", name) for n, name in enumerate(row))): box for (number, row), box in known.items()
    }
    pieces = Reading(keyed, Counter(), "", 0)
    within = Reading({key: box for key, box in keyed.items() if key in whole.answers}, Counter(), "", 0)
    return differences(whole, pieces) if _apart(program) else looser(within, whole)


def _domains(program: Program) -> dict[str, list[str]] | None:
    """The entities of each sort, where facts alone tell them."""
    sorts = {each.name: each.sorts or () for each in program.predicates}
    found: dict[str, set[str]] = {"entity": set(), **{sort: set() for sort in program.sorts}}
    for fact in program.facts:
        for name, sort in zip(fact.arguments, sorts[fact.predicate], strict=True):
            found[sort].add(name)
            found["entity"].add(name)
    return (
        {sort: sorted(names) for sort, names in found.items()} if {*entities_of(program)} <= found["entity"] else None
    )


def _heads(formula: Formula) -> set[str]:
    while formula[0] == "forall":
        formula = formula[2]
    return {part[1] for part in subformulas(formula[2][1]) if part[0] == "atom"} if formula[0] == "implies" else set()


def _apart(program: Program) -> bool:
    """Whether its statements are of literals alone, and define nothing closed: then atoms are all that they share."""
    closed = {each.name for each in program.predicates if each.closed}
    bodies: list[Formula] = []
    for each in program.statements:
        formula = each.formula
        if _heads(formula) & closed or formula[0] not in ("implies", "or", "and"):
            return False
        for part in operands(formula):
            while part[0] == "not":
                part = part[1]
            inner = [operand[1] if operand[0] == "not" else operand for operand in operands(part)]
            if any(operand[0] not in ("atom", "true", "false", "eq") for operand in inner):
                return False
            bodies += [part] if part[0] in NEURONS else []
    shapes = [(part[0], tuple(sorted(each[1] for each in subformulas(part) if each[0] == "atom"))) for part in bodies]
    return len(set(shapes)) == len(shapes) and all(_covers(each.formula) for each in program.statements)


def _covers(formula: Formula) -> bool:
    """Whether each compound operand has all the variables, so that no two instances share it."""
    return all(
        {*free_variables(part)} == {*free_variables(formula)} for part in operands(formula) if part[0] in NEURONS
    )


LAWS: dict[str, Law] = {
    "in any order": in_any_order,
    "rows repeated": rows_repeated,
    "names are names": names_are_names,
    "stated twice": stated_twice,
    "a head of its own": a_head_of_its_own,
    "asked more": asked_more,
    "a name for a negation": a_name_for_a_negation,
    "told later": told_later,
    "heads apart": heads_apart,
    "logics alike": logics_alike,
    "tightened": tightened,
    "rule by rule": rule_by_rule,
}
