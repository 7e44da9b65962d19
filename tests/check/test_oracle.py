"""Random programs: all are accepted, and sorts and strata are those of the oracle, which shares no code."""

from __future__ import annotations

import pytest

from tests.blocks import at_length
from tests.check.checking import checked
from tests.oracle.network import Network
from tests.programs import MODES, generate, to_text


@pytest.mark.parametrize("mode", at_length(MODES, plain=1))
def test_sorts_and_strata(mode: str) -> None:
    for seed in range(30):
        program = generate(seed, 1 + seed % 6, mode).program
        network = Network(program)
        result = checked(to_text(program))
        for predicate in program.predicates:
            if predicate.name in result.predicates:
                positions = [network.sorts.positions[predicate.name, i] for i in range(predicate.arity)]
                assert list(result.predicates[predicate.name].sorts) == positions, (seed, predicate)
        assert {frozenset(stratum) for stratum in network.strata} == set(result.strata), seed
        ranks = {name: rank for rank, stratum in enumerate(result.strata) for name in stratum}
        for head, bodies in dependencies(network):
            assert all(ranks[body] <= ranks[head] for body in bodies), seed


def dependencies(network: Network) -> list[tuple[str, set[str]]]:
    """Each closed derived predicate with those that the oracle finds in its rule bodies."""
    found = []
    for rule in network.rules:
        if rule.heads:
            bodies = {body for body, _ in network._signs(rule.root.formula[1][1], False)}
            found += [(atom[1], bodies) for atom in rule.heads]
    return found
