"""Where thresholds start that the program gives no start: at the quantile of the data that tells the labels best.

A comparison whose difference is linear in its threshold changes its truth where that equals some value of each row of
the data. Those values' quantiles are tried: the one that splits the labels into the purest halves is taken (by Gini
impurity), the median where no label is about the same entities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.check.program import CheckedProgram
from lnnkit.graph.build import build
from lnnkit.ground.given import given_facts
from lnnkit.ground.layout import Given
from lnnkit.ground.terms import comparison
from lnnkit.learn.comparisons import LearnedComparison, learned_comparison
from lnnkit.learn.labels import Labels
from lnnkit.learn.parameters import Parameter, at
from lnnkit.numeric import Interval

_QUANTILES = 64


@dataclass(frozen=True, slots=True)
class Start:
    """Where a threshold starts (``value``; None: nothing is known), and the spread of what it is compared with."""

    value: float | None
    spread: float


def starts(
    program: CheckedProgram, parameters: Sequence[Parameter], labels: Labels, mentioned: set[str]
) -> dict[str, Start]:
    """For each parameter that stands as a constant in a comparison: what the data say of it."""
    zeros = {each.name: 0.0 if each.start is None else each.start for each in parameters}
    lifted = build(at(program, zeros))
    _, index, given = given_facts(program, mentioned)
    facts = {each.predicate: each for each in given}
    found: dict[str, Start] = {}
    for node, data in lifted.graph.nodes(data=True):
        own = learned_comparison(lifted.graph, node) if data["kind"] == "compare" else None
        if own is None or not own.names:
            continue
        _, atoms = comparison(lifted.graph, node, tuple(range(len(data["sorts"]))))
        rows = _rows(atoms, facts, index)
        for name in own.names:
            known = None if rows is None else _crossings(own, name, rows[1], zeros)
            if known is not None and rows is not None and name not in found:
                value = _informative(known, rows[0], labels)
                found[name] = Start(value, float(known.std()) if len(known) > 1 else 1.0)
    return found


def _rows(
    atoms: Sequence[tuple[str, tuple[int | str, ...]]], facts: Mapping[str, Given], index: Mapping[str, int]
) -> tuple[tuple[Tensor, ...], list[Interval]] | None:
    """The tuples of entities for which all numbers are known, and these; None where the numbers are about different
    tuples. A number of constants is the same for all."""
    open_atoms = [(name, arguments) for name, arguments in atoms if any(isinstance(a, int) for a in arguments)]
    if not open_atoms or any(name not in facts for name, _ in atoms):
        return None
    shape = open_atoms[0][1]
    if len(set(shape)) != len(shape) or any(arguments != shape for _, arguments in open_atoms):
        return None
    radix = max(len(index), 1)
    if radix ** len(shape) >= 2**62:
        return None
    keys = {name: _key(facts[name].columns, radix) for name, _ in open_atoms}
    common = next(iter(keys.values()))
    for each in keys.values():
        common = common[torch.isin(common, each)]
    common = torch.unique(common)
    columns = []
    rest = common
    for _ in shape:
        columns.append(rest % radix)
        rest = rest // radix
    numbers: list[Interval] = []
    for name, arguments in atoms:
        own = facts[name]
        if arguments == shape:
            order = keys[name].argsort()
            place = order[torch.searchsorted(keys[name][order], common)]
        else:
            wanted = _key([torch.tensor([index[str(a)]]) for a in arguments], radix)
            match = (_key(own.columns, radix) == wanted).nonzero().squeeze(1)
            if not len(match):
                return None
            place = match[:1].expand(len(common))
        numbers.append(Interval(own.lower[place].double(), own.upper[place].double()))
    return tuple(reversed(columns)), numbers


def _key(columns: Sequence[Tensor], radix: int) -> Tensor:
    key = torch.zeros_like(columns[0], dtype=torch.int64)
    for column in columns:
        key = key * radix + column.long()
    return key


def _crossings(
    own: LearnedComparison, name: str, numbers: Sequence[Interval], values: Mapping[str, float]
) -> Tensor | None:
    """For each row the value of a parameter at which the difference is 0, if that is linear in it."""
    middles = [Interval(middle, middle) for middle in ((low + high) / 2 for low, high in numbers)]

    def difference(value: float) -> Tensor:
        now = {each: torch.tensor(values[each], dtype=torch.float64) for each in own.names}
        now[name] = torch.tensor(value, dtype=torch.float64)
        return own.difference(middles, now).lower

    zero, one, two = (difference(value) for value in (0.0, 1.0, 2.0))
    slope = one - zero
    linear = ((two - one) - slope).abs() <= 1e-9 * (1 + slope.abs())
    found = -zero / slope
    found[~linear | (slope == 0)] = torch.nan
    return found


def _informative(known: Tensor, columns: tuple[Tensor, ...], labels: Labels) -> float | None:
    """The quantile of the values that tells the labels best."""
    good = known.isfinite()
    values = known[good]
    if not len(values):
        return None
    steps = (torch.arange(1, _QUANTILES, dtype=torch.float64)) / _QUANTILES
    cuts = torch.unique(_between(values.sort().values, steps))
    best: tuple[float, float] | None = None
    radix = int(max((int(column.max()) for column in columns if len(column)), default=0)) + 1
    key = _key([column[good] for column in columns], radix)
    for number, ids in enumerate(labels.columns):
        if len(ids) != len(columns) or any(len(column) and int(column.max()) >= radix for column in ids):
            ids = tuple(column.clamp(max=radix - 1) for column in ids)
        if len(ids) != len(columns):
            continue
        mine = labels.predicate == number
        wanted, positive = _key(ids, radix), labels.lower[mine] + labels.upper[mine] > 1.0
        order = key.argsort()
        place = torch.searchsorted(key[order], wanted).clamp(max=len(key) - 1)
        there = key[order][place] == wanted
        x, y = values[order[place[there]]], positive[there].double()
        for cut in cuts.tolist() if len(y) else ():
            above = x > cut
            impurity = sum(
                float(len(part) * part.mean() * (1 - part.mean())) for part in (y[above], y[~above]) if len(part)
            )
            if best is None or impurity < best[0] - 1e-12:
                best = impurity, cut
    if best is not None:
        return best[1]
    return float(values.median())


def _between(ordered: Tensor, shares: Tensor) -> Tensor:
    """Halfway between neighbours at these shares of the sorted values."""
    place = (shares * (len(ordered) - 1)).long()
    return (ordered[place] + ordered[(place + 1).clamp(max=len(ordered) - 1)]) / 2
