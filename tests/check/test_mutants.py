"""Broken programs: whatever is typed, the checker answers with findings that point into the text, and never raises."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from lnnkit.check import check, check_query
from lnnkit.syntax.parse import parse
from tests.blocks import at_length
from tests.check.checking import checked
from tests.check.test_programs import blocks

LINES = [line for _, block in blocks() for line in block.splitlines() if line and not line.startswith("#")]
TOKEN = re.compile(r"\w+|[^\w\s]|\s+")
TOKENS = [token for line in LINES for token in TOKEN.findall(line)]
PROGRAM = checked("predicate P(person)\nnumber age(person)\nfact P(anna)\nrule P(X)@?w & age(X) > 3 -> R(X)\n")


def mutant(rng: random.Random) -> str:
    lines = []
    for line in rng.sample(LINES, rng.randint(1, 12)):
        tokens = TOKEN.findall(line)
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            at = rng.randrange(len(tokens))
            tokens[at : at + rng.randint(0, 1)] = [rng.choice(TOKENS)] if rng.random() < 0.7 else [""]
        lines.append("".join(tokens))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", at_length(range(4), plain=1))
def test_mutants(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(150):
        text = mutant(rng)
        program, _ = parse(text, "mutant.lnn")
        result, found = check(program, Path(__file__).parent)
        assert (result is None) == any(finding.severity == "error" for finding in found)
        for finding in found:
            assert finding.message and finding.hint, finding.render()
            assert finding.span is not None and 0 <= finding.span.start < finding.span.end <= len(text)
        starts = [finding.span.start for finding in found if finding.span is not None]
        assert starts == sorted(starts)
        check_query(rng.choice(LINES).partition(" ")[2], result or PROGRAM)
