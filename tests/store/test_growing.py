"""Arrays that grow, against plain lists."""

from __future__ import annotations

import random

import numpy as np
import pytest

from lnnkit.store.row_arrays import Growing


@pytest.mark.parametrize("seed", range(60))
def test_appending_and_setting_in_any_order(seed: int) -> None:
    """Against a plain list, from which a part is looked at now and then."""
    draw = random.Random(seed)
    growing, marks = Growing(np.float64), Growing(np.int16)
    plain: list[float] = []
    noted: list[int] = []
    for _ in range(draw.choice([5, 50, 400])):
        step, count, value = draw.choice("aaeeefssvr"), draw.choice([0, 1, 3, 40]), draw.choice([0, 1])
        start = draw.randint(0, len(plain))
        if step == "a":
            own = [draw.random() for _ in range(count)]
            growing.append(np.array(own))
            plain += own
        elif step == "e":
            growing.set(len(growing), len(growing) + count, value)
            plain += [value] * count
        elif step == "f":
            growing.fill(start, start + count, value)
            plain += [value] * (start + count - len(plain))
        elif step == "s":  # the end, most often: what a round has made is told
            start = max(0, len(plain) - count) if draw.random() < 0.7 else start
            stop = min(start + count, len(plain))
            growing.set(start, stop, value)
            plain[start:stop] = [value] * (stop - start)
        elif step == "r":
            marks.reach(len(noted) + count)
            noted += [0] * count
        else:
            assert growing.values.tolist() == plain
            if plain:
                growing.values[start - 1 : start] = 0.25
                plain[start - 1 : start] = [0.25] * len(plain[start - 1 : start])
        start = draw.choice([len(noted), draw.randint(0, len(noted))])
        noted += [0] * (start + count - len(noted))
        if draw.random() < 0.3:
            own = np.arange(count, dtype=np.int16)
            marks.set(start, start + count, own)
            noted[start : start + count] = own.tolist()
        else:
            marks.set(start, start + count, value)
            noted[start : start + count] = [value] * count
        if draw.random() < 0.1:
            assert marks.reach(len(noted)).tolist() == noted
    assert len(growing) == len(plain)
    assert growing.values.tolist() == plain
    assert marks.values.tolist() == noted
