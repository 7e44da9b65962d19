"""Gradients of the weights of units through replayed derivations, against finite differences of the whole fixpoint."""

from __future__ import annotations

import random

import pytest

from tests.blocks import at_length
from tests.learn.replay.test_replay import disagreements
from tests.learn.replaying import learning

FACTS = """
predicate P(item)
number a(item)
number b(item)
fact a(x) = 3
fact b(x) = 2
fact a(y) in [1, 1.5]
fact b(y) = 0.5
fact a(z) = 1.25
fact b(z) in [2, 4]
fact Q(x) in [0.8, 0.9]
fact Q(y) in [0.7, 0.95]
fact Q(z) = 0.9
query P(X)
"""

RULES = {
    "a sum": "rule r: (nau(a(X), b(X)) > ?t){scale: 2} -> P(X)",
    "a sum by NAC": "rule r: (nac(a(X), b(X)) < ?t){scale: 2} -> P(X)",
    "a product of sums": "rule r: (nmu(a(X), b(X)) > ?t){scale: 3} -> P(X)",
    "a quotient": "rule r: (npu(a(X), b(X)) > ?t){scale: 2} -> P(X)",
    "a real quotient, one operand left out": "rule r: (realnpu(a(X), b(X)){gate: [1, 0]} > ?t){scale: 2} -> P(X)",
    "one weight given": "rule r: (nau(a(X), b(X)){weight: [?, -0.5]} > 1){scale: 2} -> P(X)",
    "nested": "rule r: (nau(a(X), npu(a(X), b(X))) > nmu(b(X), a(X)) - ?t){scale: 3} -> P(X)",
    "equal to a degree": "rule r: (nau(a(X), b(X)) = ?t){scale: 4} -> P(X)",
    "a register": "rule r: (a(X) <?> b(X)){scale: 2, weight: [?0.9, ?-0.3, ?0.2]} -> P(X)",
    "a register over units, with others": "rule r: (nau(a(X), b(X)) <?> ?t){scale: 2} & Q(X) -> P(X)",
    "an equation that tells a number": "number c(item)\nrule r: c(X) = nau(npu(a(X), b(X)), b(X)) * ?t\nquery c(X)",
    "an equation that tells an operand": "number c(item)\nfact c(x) = 2\nrule r: nau(a(X), c(X)) = ?t\nquery c(X)",
    "a true comparison": "number c(item)\nrule r: c(X) > nmu(a(X), b(X)) * ?t\nquery c(X)",
    "two steps": "number c(item)\nrule r: c(X) = nau(a(X), b(X))\nrule s: (c(X) > ?t){scale: 2} -> P(X)",
    "of a contrapositive": "rule r: ~P(X) -> (nau(a(X), b(X)) < ?t){scale: 2}",
}

KNOWN = FACTS.replace("a(y) in [1, 1.5]", "a(y) = -1.5").replace("b(z) in [2, 4]", "b(z) = 0.25")
RULES_OF_KNOWN = {  # of these units, gradients pass where numbers are known
    "a NALU": "rule r: (nalu(a(X), b(X)) > ?t){scale: 2} -> P(X)",
    "an iNALU": "rule r: (inalu(a(X), b(X)) > ?t){scale: 2} -> P(X)",
    "the gate of an iNALU alone": (
        "rule r: (inalu(a(X), b(X)){add: [1, -1], multiply: [1, 0.5], gate: ?} > 1){scale: 2} -> P(X)"
    ),
    "an equation of an iNALU": "number c(item)\nrule r: c(X) = inalu(a(X), b(X)) * ?t\nquery c(X)",
    "gates of an NPU": "rule r: (npu(a(X), b(X)){gate: [?0.5, ?0.7]} > ?t){scale: 2} -> P(X)",
    "imaginary parts": "rule r: (npu(a(X), b(X)){imaginary: [?0.5, ?-0.2]} > ?t){scale: 2} -> P(X)",
}


@pytest.mark.parametrize("case", at_length([*RULES, *RULES_OF_KNOWN], plain=2))
def test_gradients_of(case: str) -> None:
    text = FACTS.strip() + "\n" + RULES[case] if case in RULES else KNOWN.strip() + "\n" + RULES_OF_KNOWN[case]
    program = learning(text)
    rng = random.Random(1)
    compared = 0
    for _ in range(3):
        values = {
            each.name: rng.uniform(max(each.range[0], -0.9), min(each.range[1], 0.9)) for each in program.parameters
        }
        some, wrong = disagreements(program, values, 9, rng)
        compared += some
        assert not wrong, wrong
    assert compared > 10
