"""The tuples of entities about which facts give all numbers of a comparison, and the labels about the same tuples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from lnnkit.flags import any_set, where_set
from lnnkit.learn.labels import Labels
from lnnkit.numeric import Interval
from lnnkit.store.layout import Given


def known_rows(
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
            match = where_set(_key(own.columns, radix) == wanted)
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


def joined(columns: tuple[Tensor, ...], ids: tuple[Tensor, ...]) -> Tensor:
    """For each tuple of ``ids`` its row among the ``columns``, distinct tuples; -1 where it is not there."""
    radix = 1 + max(int(column.max()) for column in (*columns, *ids) if len(column))
    key, wanted = _key(columns, radix), _key(ids, radix)
    order = key.argsort()
    place = torch.searchsorted(key[order], wanted).clamp(max=len(key) - 1)
    return torch.where(key[order][place] == wanted, order[place], -1)


def with_labels(facts: Mapping[str, Given], labels: Labels) -> dict[str, Given]:
    """The facts, and the labels of numbers as if they were facts."""
    found = dict(facts)
    for number, name in enumerate(labels.names):
        mine = labels.predicate == number
        if any_set(labels.numeric[mine]):
            own = Given(name, labels.columns[number], labels.lower[mine], labels.upper[mine])
            known = found.get(name)
            if known is not None:
                columns = tuple(map(torch.cat, zip(known.columns, own.columns, strict=True)))
                ends = (torch.cat(pair) for pair in ((known.lower, own.lower), (known.upper, own.upper)))
                own = Given(name, columns, *ends)
            found[name] = own
    return found
