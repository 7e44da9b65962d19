"""What must hold of any program: a check maps a program to what is wrong, in words; an empty list where nothing is."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import lnnkit
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_program
from lnnkit.syntax.tidy import tidy
from tests import planted, planted_numbers
from tests.agreement import answers_of, disagreements, disagreements_about_numbers
from tests.creeping import compared
from tests.exact import Unclear, Undefined
from tests.explain.proving import known_atoms, replay
from tests.numeric_programs import numbers_stand_once
from tests.oracle import Program
from tests.oracle.network import Network
from tests.oracle.program import free_variables
from tests.programs import to_text, well_sorted

Check = Callable[[Program], list[str]]


def as_the_oracle(program: Program) -> list[str]:
    """The oracle's answers, where it has some that rounding does not decide, and sorts are not for queries to tell."""
    return (disagreements(program) or []) if well_sorted(program, Network(program)) else []


def as_the_oracle_about_numbers(program: Program) -> list[str]:
    """Answers between those of the oracle over exact and over closed sets of numbers."""
    return disagreements_about_numbers(program, numbers_stand_once(program)) or []


def as_the_patient_oracle(program: Program) -> list[str]:
    """Answers that contain those at the limit of a cycle; the same where inference says that it converged."""
    return compared(program).wrong


def read_back(program: Program) -> list[str]:
    """Printed and parsed, and tidied and parsed, the program is the same; and so are its answers, to the last bit."""
    text = to_text(program)
    tree, _ = parse(text)
    printed, (tidied, _) = format_program(tree), tidy(text)
    wrong = [
        f"{how} it is another program:\n{other}"
        for how, other in (("printed", printed), ("tidied", tidied))
        if parse(other) != (tree, [])
    ]
    if format_program(parse(printed)[0]) != printed or tidy(tidied)[0] != tidied:
        wrong.append("printed or tidied twice it is another text")
    if _in_turn(printed) != _in_turn(text):
        wrong.append(f"printed it has other answers:\n{printed}")
    return wrong


def _in_turn(text: str) -> list[dict[frozenset[tuple[str, str]], tuple[float, float]]]:
    """The answers to each query, whose own text may change."""
    return [
        {frozenset(each.bindings.items()): (each.lower, each.upper) for each in answers}
        for answers in lnnkit.loads(text).answers()
    ]


def in_any_order(program: Program) -> list[str]:
    """The same answers, to the last bit, whatever the order of facts and statements."""
    expected, shuffle = answers_of(to_text(program)), random.Random(0)
    for _ in range(2):
        facts, statements = list(program.facts), list(program.statements)
        shuffle.shuffle(facts)
        shuffle.shuffle(statements)
        shuffled = to_text(replace(program, facts=facts, statements=statements))
        if answers_of(shuffled) != expected:
            return [f"in this order it has other answers:\n{shuffled}"]
    return []


def proved(program: Program) -> list[str]:
    """The independent checker accepts the proof of each atom of which something is known."""
    kb = lnnkit.loads(to_text(program))
    return replay(kb, known_atoms(kb))[1]


def keeps_world(world: planted.World) -> Check:
    """No answer excludes this world, where the program holds in it."""

    def check(program: Program) -> list[str]:
        entities = sorted({name for fact in program.facts for name in fact.arguments})
        for _, formula, lower, upper in program.statements:
            for truth in planted.instances(formula, program.logic, world, entities):
                if not (planted.exact(lower) <= truth and truth <= planted.exact(upper)):
                    return []
        if any(free_variables(query) and not entities for query in program.queries):
            return []
        return planted.exclusions(planted.Planted(program, world, entities))

    return check


def keeps_numbers(world: planted_numbers.World) -> Check:
    """No answer excludes this world of numbers, where the program holds in it."""

    def check(program: Program) -> list[str]:
        people = sorted({name for fact in program.facts for name in fact.arguments})
        for _, formula, lower, upper in program.statements:
            try:
                truths = [planted_numbers.truth_in(world, formula, who, program.logic) for who in people]
            except (Unclear, Undefined):
                return []
            if not all(lower <= truth <= upper for truth in truths):
                return []
        return planted_numbers.exclusions(planted_numbers.Planted(program, world))

    return check


COMMON = {"read back": read_back, "in any order": in_any_order, "proved": proved}
