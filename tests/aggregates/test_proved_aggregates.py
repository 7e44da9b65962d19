"""Verdicts and exact bounds of programs with aggregates, beside all worlds of their atoms."""

from __future__ import annotations

from fractions import Fraction

import pytest

import lnnkit
from lnnkit.prove.verdict import Proved
from tests.aggregates.aggregate_worlds import Formula, World, text
from tests.aggregates.proved_worlds import NEAR, Case, LooseWorld, drawn, verdict, written
from tests.blocks import in_blocks

pytest.importorskip("z3", reason="z3-solver is not installed")


def nearest(value: float) -> Fraction:
    """The simple fraction that a world shows as this float: the solver's numbers are fractions."""
    simple = Fraction(value).limit_denominator(10_000)
    return simple if float(simple) == value else Fraction(value)


def shown(case: Case, found: Proved, question: Formula) -> list[str]:
    """What is wrong with the worlds that an answer shows. Atoms that it does not show may have any truth."""
    wrong = []
    for model in found.models:
        values = {name: nearest(float(value)) for name, value in (*model.atoms, *model.numbers)}
        given = {key: values[written(key)] for key in case.unknown if written(key) in values}
        left = [key for key in case.unknown if key not in given]
        given |= {key: values.get(written(key), Fraction(some[0])) for key, some in case.numbers.items()}
        for bits in range(2 ** len(left)):
            rest = {key: Fraction(bits >> place & 1) for place, key in enumerate(left)}
            world = case.world(given | rest)
            near = abs(world.truth(question, {}) - Fraction(model.truth)) <= NEAR
            if near and case.holds(world, NEAR):
                break
        else:
            wrong.append(f"no such world: {model}")
    return wrong


def faults(seed: int) -> list[str]:
    case = drawn(seed)
    try:
        kb = lnnkit.loads(case.text)
    except lnnkit.ProgramError as problem:
        return [str(problem)]
    wrong = []
    for question in case.questions:
        loose, strict = (case.truths(question, kind) for kind in (LooseWorld, World))
        classical = kb.prove(text(question), reading="classical", timeout=10)
        said, ends = classical.verdict, (verdict(loose), verdict(strict))
        bad = shown(case, classical, question)
        if case.numbers:  # some worlds were not tried
            fits = said in ("neither", "timeout", *ends) or "inconsistent" in ends
            fits &= not (said == "entailed" and 0 in strict) and not (said == "refuted" and 1 in strict)
            fits &= not (said == "inconsistent" and strict)
        else:
            fits = said == ends[0] if said == "neither" else said == "timeout" or ends[1] in (said, "inconsistent")
        if question is not case.questions[-1]:
            wrong += [] if fits and not bad else [f"{text(question)}: {said}, not {ends}; {bad}"]
            continue
        exact = kb.prove(text(question), reading="exact", timeout=10)
        assert exact.lower is not None and exact.upper is not None
        inside = all(exact.lower - 1e-9 <= truth <= exact.upper + 1e-9 for truth in strict)
        fits &= inside and not (exact.verdict == "inconsistent" and strict)
        if not fits or bad:
            exact_said = f"{exact.verdict} [{exact.lower}, {exact.upper}]"
            wrong.append(f"{text(question)}: {said}, not {ends}; {exact_said}, {sorted(map(float, strict))}; {bad}")
    return wrong and [f"seed {seed}", case.text, *wrong]


@pytest.mark.parametrize("block", in_blocks(range(3000), 10, plain=2))
def test_verdicts_are_those_of_all_worlds(block: range) -> None:
    for seed in block:
        assert not (wrong := faults(seed)), "\n".join(wrong)
