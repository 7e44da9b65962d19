"""One look at instances: up from the leaves, meet what is given, down from the root. Names no state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.check.stated import negated_ends
from lnnkit.flags import any_set
from lnnkit.formula.passes import downward, least_heads, neuron_upward, upward
from lnnkit.formula.quantified_rows import Grouping, Reached
from lnnkit.formula.unfolding import AUXILIARY, LEAF, Formula
from lnnkit.join.rule_shape import RuleShape
from lnnkit.logic.bounds import Bounds, enter, noise, ordered, tolerance
from lnnkit.numeric import rises

Read = Callable[[int], Bounds]  # the bounds of a leaf, of a constant, or of AUXILIARY, as they are kept
Target = tuple[int, int]  # a leaf, and its lower (0) or upper (1) side


@dataclass(frozen=True, slots=True)
class Response:
    """What instances say: for each target where it is news, and the bound, by the rows of its block that are
    ``reached``. ``bad`` instances cannot be satisfied and say nothing; ``root`` are the bounds that their roots come
    to."""

    bad: Tensor
    root: Bounds
    said: Mapping[Target, tuple[Tensor, Tensor]]
    reached: Sequence[Reached] = ()


def entering(read: Read, formula: Formula) -> Read:
    """As neurons read it; numbers as they are."""

    def entered(index: int) -> Bounds:
        own = read(index)
        return own if index != AUXILIARY and formula.neurons[index].numeric else enter(own)

    return entered


def once(read: Read) -> Read:
    """The same, asking for each leaf only the first time."""
    known: dict[int, Bounds] = {}

    def remembered(index: int) -> Bounds:
        if index not in known:
            known[index] = read(index)
        return known[index]

    return remembered


def respond(
    batch: RuleShape, read: Read, groupings: Sequence[Grouping | None], silent: Tensor | None = None
) -> Response:
    """What instances send in a round of inference, those that are ``silent`` apart. ``bad`` has a flag for each row of
    block 0, news one for each row of their leaf's block that is reached; a number that nothing was left out of has
    none."""
    formula = batch.formula
    read = once(read)
    values = upward(formula, entering(read, formula), groupings)
    least = noise(values[formula.top].lower.dtype)  # a smaller gain is rounding, not news
    up = values[formula.top]
    if formula.auxiliary is None:
        given = Bounds(torch.full_like(up.lower, formula.lower), torch.full_like(up.upper, formula.upper))
    else:
        given = enter(read(AUXILIARY))
    lower, upper = torch.maximum(up.lower, given.lower), torch.minimum(up.upper, given.upper)
    crossed = lower > upper + tolerance(lower.dtype)
    root = ordered(lower, upper)
    safe = Bounds(torch.where(crossed, up.lower, root.lower), torch.where(crossed, up.upper, root.upper))
    quiet = crossed if silent is None else crossed | silent
    boxes, empty, reached = downward(formula, values, _asked(formula, safe, crossed), groupings, silent=quiet)

    def there(index: int, own: Bounds) -> Bounds:
        rows = reached[formula.block_of(index)].rows
        return own if rows is None else Bounds(own.lower.index_select(0, rows), own.upper.index_select(0, rows))

    bad = empty if formula.compares else crossed | empty  # a comparison's own atom is arrested by what crosses it
    said: dict[Target, tuple[Tensor, Tensor]] = {}
    for leaf in batch.targets:
        box, own = safe if leaf == AUXILIARY else boxes[leaf], there(leaf, read(leaf))
        numeric = leaf != AUXILIARY and formula.neurons[leaf].numeric
        if numeric and box.lower is own.lower and (box.upper is own.upper or box.upper is own.lower):
            continue
        if batch.modes[leaf][0]:
            news = rises(own.lower, box.lower) if numeric else box.lower > own.lower + least
            said[leaf, 0] = news, box.lower
        if batch.modes[leaf][1]:
            news = rises(-own.upper, -box.upper) if numeric else box.upper < own.upper - least
            said[leaf, 1] = news, box.upper
    for neuron in batch.observed:  # what is said of it from above, beyond what its operands make it
        box, own, made = boxes[neuron], there(neuron, read(neuron)), there(neuron, values[neuron])
        gains = (box.lower > made.lower + least) & (box.lower > own.lower + least)
        loses = (box.upper < made.upper - least) & (box.upper < own.upper - least)
        if neuron == formula.head[0]:  # what is stated outright stands, also where its operands contradict it
            low, high = _stated(formula)
            gains = torch.where(bad, own.lower < low - least, gains)
            loses = torch.where(bad, own.upper > high + least, loses)
            box = Bounds(torch.where(bad, low, box.lower), torch.where(bad, high, box.upper))
        said[neuron, 0], said[neuron, 1] = (gains, box.lower), (loses, box.upper)
    return Response(bad, Bounds(lower, upper), said, reached)


def _stated(formula: Formula) -> tuple[float, float]:
    """The truth that a statement gives to what is beneath its negations."""
    return negated_ends(formula.lower, formula.upper) if formula.head[1] else (formula.lower, formula.upper)


def completing(batch: RuleShape, read: Read, groupings: Sequence[Grouping | None]) -> Response:
    """What defining statements make of their heads, by the two ends of their antecedents."""
    formula = batch.formula
    values = upward(formula, entering(read, formula), groupings)
    antecedent = values[formula.neurons[formula.top].operands[0]]
    said: dict[Target, tuple[Tensor, Tensor]] = {}
    for side, (end, impossible) in enumerate(((antecedent.lower, 0.0), (antecedent.upper, 1.0))):
        for head, value in least_heads(formula, end, values, impossible).items():
            said[head, side] = value > noise(value.dtype), value
    return Response(torch.zeros(antecedent.lower.shape, dtype=torch.bool), antecedent, said)


def _asked(formula: Formula, root: Bounds, crossed: Tensor) -> Bounds:
    """What goes down: of a comparison that its bounds cross nothing does."""
    if not formula.compares or not any_set(crossed):
        return root
    return Bounds(torch.where(crossed, 0.0, root.lower), torch.where(crossed, 1.0, root.upper))


def constant(batch: RuleShape, index: int, length: int, dtype: torch.dtype) -> Bounds:
    """The bounds of what is fixed; a leaf that nothing is read of is unknown."""
    neuron = batch.formula.neurons[index]
    if neuron.arithmetic is not None:
        lower, upper = neuron_upward(neuron, ())
        return Bounds(lower.expand(length), upper.expand(length))
    kind = neuron.kind
    lower = torch.full((length,), float(kind == "true"), dtype=dtype)
    return Bounds(lower, torch.ones_like(lower)) if kind == LEAF else Bounds(lower, lower)
