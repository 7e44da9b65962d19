"""A numbering in runs maps as a list of all images does."""

from __future__ import annotations

import numpy as np
import pytest

from lnnkit.store.columns.runs import Runs


@pytest.mark.parametrize("seed", range(40))
def test_runs_map_as_a_list_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    runs, images, labels = Runs(), [], []
    for _ in range(rng.integers(0, 12)):
        count, label = int(rng.integers(0, 5)), int(rng.integers(0, 2))
        follows = bool(rng.integers(0, 2)) and images
        image = images[-1] + 1 if follows else int(rng.integers(-1, 50))
        runs.add(count, image, label)
        images += range(image, image + count)
        labels += [label] * count
    assert len(runs) == len(images)
    assert runs.images().tolist() == images
    for start in range(len(images) + 1):
        found = [
            (n, i, label)
            for b, e, at, label in runs.pieces(start)
            for n, i in zip(range(b, e), range(at, at + e - b), strict=True)
        ]
        assert found == list(zip(range(start, len(images)), images[start:], labels[start:], strict=True))
    if not images:
        return
    for dtype in (np.int32, np.int64):
        for size in (1, 3, 40):
            asked = rng.integers(0, len(images), size).astype(dtype)
            found = runs.image(asked)
            assert found.dtype == np.int32
            assert found.tolist() == [images[number] for number in asked.tolist()]
            assert [runs.at(number) for number in asked.tolist()] == [(images[n], labels[n]) for n in asked.tolist()]
            label = runs.labels(asked)
            expected = [labels[number] for number in asked.tolist()]
            assert ([label] * size if isinstance(label, int) else label.tolist()) == expected


def test_what_goes_on_is_one_run() -> None:
    runs = Runs()
    for start in range(0, 100, 10):
        runs.add(10, start + 7)
    assert runs.labels(np.arange(100)) == 0
    assert runs.image(np.arange(100)).tolist() == list(range(7, 107))
