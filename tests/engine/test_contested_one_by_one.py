"""Which bounds rest on a contradiction, one by one, from the definition: a bound is doubtful if its last setter was
arrested, or read an arrested atom or a doubtful bound; it is clear if the setter gives as much where all that is
doubtful is unknown."""

from __future__ import annotations

import math

import numpy as np
import pytest

import lnnkit
from lnnkit.engine.contested import contested
from lnnkit.engine.inference_run import Run
from lnnkit.engine.response.respond import constant as constant_bounds
from lnnkit.engine.response.respond import leaf_bound, respond
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.logic.bounds import Bounds
from lnnkit.store.relations import UNKNOWN, RowNumbers
from tests.blocks import at_length
from tests.programs import generate, to_text

End = tuple[int, int]  # a row among all, and a side
TOLERANCE = 1e-9


class OneByOne:
    """The doubtful bounds of a fixpoint; ``rows`` of quantifiers that were moved to the front are not followed."""

    def __init__(self, run: Run) -> None:
        self.run, self.grounding = run, run.grounding
        self.numbers = RowNumbers(run.grounding.atoms)
        self.bounds = [end.tolist() for end in self.numbers.bounds()]
        self.given = self.numbers.flags("given")
        self.setters: dict[End, tuple[int, int, int]] = {}
        self.known: dict[End, set[End]] = {}
        for side in (0, 1):
            setters = run.state.trail.setters(side, self.numbers)
            for row, setter in enumerate(zip(*(column.tolist() for column in setters), strict=True)):
                if setter[0] >= 0:
                    self.setters[row, side] = setter
        self.arrested = {entry.shape: run.arrested(entry.shape) for entry in run.progress.arrested}
        self.followed = all(self.grounding.shapes[s].formula.prenex_of is None for s, _, _ in self.setters.values())

    def by_arrested(self, end: End) -> bool:
        number, leaf, instance = self.setters[end]
        shape = self.grounding.shapes[number]
        top = shape.tops(shape.formula.block_of(leaf), np.array([instance]))[0]
        return number in self.arrested and bool(self.arrested[number][top])

    def reads(self, end: End) -> set[End]:
        """The bounds that an end's setter read."""
        if end in self.known:
            return self.known[end]
        number, leaf, instance = self.setters[end]
        block = self.grounding.shapes[number].formula.block_of(leaf)
        view = self.grounding.rebuilt(number, block, np.array([instance]), self.numbers).instances
        reads = self.grounding.reads(number, leaf, end[1])
        self.known[end] = {(row, side) for other, sides in reads for side in sides for row in view.rows[other].tolist()}
        return self.known[end]

    def derived(self, end: End, doubtful: set[End], *, sharp: bool = False) -> float:
        """What an end's setter gives where what is doubtful is unknown; or, if ``sharp``, is better than known."""
        (number, leaf, instance), side = self.setters[end], end[1]
        shape = self.grounding.shapes[number]
        formula, block = shape.formula, shape.formula.block_of(leaf)
        view, _, _, places = self.grounding.rebuilt(number, block, np.array([instance]), self.numbers)
        unknown = int(self.numbers.of(self.grounding.atoms.truths, np.array([UNKNOWN]))[0])

        def bound(row: int, s: int) -> float:
            if (row, s) not in doubtful:
                return self.bounds[s][row]
            return self.bounds[1 - s][row] if sharp else self.numbers.behind(row)[0].unknown[s]

        def read(index: int) -> Bounds:
            if index != AUXILIARY and formula.neurons[index].fixed:
                return constant_bounds(formula, index, view.length(formula.neurons[index].block), self.run.state.dtype)
            rows = view.rows[index].tolist()
            if index in formula.heads:
                rows = [row if self.given[row] else unknown for row in rows]
            return Bounds(*(np.array([bound(row, s) for row in rows]) for s in (0, 1)))

        place = int(places[0])
        if leaf in formula.heads:
            return float(leaf_bound(formula, read, view.groupings, leaf, side, completes=True)[place])
        response = respond(shape, read, view.groupings)
        numeric = leaf != AUXILIARY and formula.neurons[leaf].numeric
        nothing = ((-math.inf, math.inf) if numeric else (0.0, 1.0))[side]
        news, values = response.proposed.get((leaf, side), (np.zeros(place + 1, bool), np.zeros(place + 1)))
        stated = leaf in shape.observed and leaf == formula.head[0]
        silent = view.silenced(block, response.bad & (not stated))
        return float(values[place]) if news[place] and not silent[place] else nothing

    def doubtful(self) -> set[End]:
        crossed = {(row, side) for row in self.numbers.crossed.tolist() for side in (0, 1)}
        doubtful, grown = set(crossed), True
        for entry in self.run.progress.arrested:
            if self.grounding.shapes[entry.shape].formula.auxiliary is not None:
                own = self.grounding.among_all(entry.shape, AUXILIARY, entry.rows, self.numbers).tolist()
                doubtful |= {(row, side) for row in own for side in (0, 1)}
        doubtful |= {end for end in self.setters if self.by_arrested(end)}
        while grown:
            new = {end for end in self.setters if end not in doubtful and self.reads(end) & doubtful}
            doubtful, grown = doubtful | new, bool(new)
        while True:
            clear = {end for end in doubtful & self.setters.keys() if end not in crossed and self.clear(end, doubtful)}
            if not clear:
                return doubtful
            doubtful -= clear

    def clear(self, end: End, doubtful: set[End]) -> bool:
        (row, side), (number, leaf, _i) = end, self.setters[end]
        if self.by_arrested(end):
            return False
        value, given = self.bounds[side][row], self.derived(end, doubtful)
        if side == 0:
            return given >= value - TOLERANCE
        if leaf not in self.grounding.shapes[number].formula.heads:
            return given <= value + TOLERANCE
        both = {(r, s) for r, s in self.reads(end) if (r, 0) in doubtful and (r, 1) in doubtful}
        sharp = self.derived(end, doubtful, sharp=True)
        return abs(given - value) <= TOLERANCE and sharp >= value - TOLERANCE and not both


@pytest.mark.parametrize("block", at_length([*range(3)], plain=1))
def test_programs_that_contradict_themselves(block: int) -> None:
    marked = 0
    for seed in range(8 * block, 8 * block + 8):
        drawn = generate(seed, 3 + seed % 5, "free", equal=0.1 * (seed % 2), linked=0.3 * (seed % 3))
        kb = lnnkit.loads(to_text(drawn.program))
        if not kb.infer().contradictions:
            continue
        run = kb._session.program_fixpoint().run
        one_by_one = OneByOne(run)
        if not one_by_one.followed:
            continue
        flags = contested(run).flags
        found = {(row, side) for side in (0, 1) for row in np.flatnonzero(flags[side]).tolist()}
        assert found == one_by_one.doubtful(), seed
        marked += len(found)
    assert marked > 0
