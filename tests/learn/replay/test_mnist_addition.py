"""Digits learned from sums alone, where the images are there."""

from __future__ import annotations

import pytest

from benchmarks import mnist_addition


@pytest.mark.slow
def test_digits_are_learned_from_sums() -> None:
    if not mnist_addition.DATA.is_dir():
        pytest.skip("the images of MNIST are not there")
    images = mnist_addition.read_idx(mnist_addition.DATA / "dev8k-images-idx3-ubyte.gz").float() / 255
    labels = mnist_addition.read_idx(mnist_addition.DATA / "dev8k-labels-idx1-ubyte.gz").long()
    found = mnist_addition.run(images, labels, count=7_000, epochs=6, seed=0)
    assert found["digits"] >= 0.93
    assert found["sums"] >= 0.88
