"""MNIST addition (Manhaeve et al. 2018): digits learned from the sums of two images alone, no image being labelled.

    python -m benchmarks.mnist_addition [--images N] [--epochs N] [--seeds N] [--data DIR] [--format table|json]

Each image but the last 1,000 is in one pair, of which the sum is told: ``digits`` is the accuracy of the network on
the images that are held back, ``sums`` that of the rules on their pairs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import struct
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

import lnnkit

DATA = Path(os.environ.get("LNNKIT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "mnist"
HELD_BACK = 1_000

PROGRAM = """
logic product
predicate Digit(image, digit)
predicate Pair(image, image) closed
predicate Plus(digit, digit, number) closed

axiom sum: Pair(X, Y) & Digit(X, A) & Digit(Y, B) & Plus(A, B, S) -> Sum(X, Y, S)
""" + "".join(f"fact Plus({a}, {b}, {a + b})\n" for a in range(10) for b in range(10))


def read_idx(path: Path) -> Tensor:
    """The array of an ``idx`` file of bytes, compressed."""
    data = gzip.decompress(path.read_bytes())
    (rank,) = struct.unpack_from(">xxxB", data)
    shape = struct.unpack_from(f">{rank}I", data, 4)
    return torch.from_numpy(np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape).copy())


def network() -> nn.Module:
    """LeNet's two convolutions, and a truth for each digit (LeCun et al. 1998)."""
    return nn.Sequential(
        nn.Unflatten(1, (1, 28)),
        *(nn.Conv2d(1, 8, 5), nn.MaxPool2d(2), nn.ReLU()),
        *(nn.Conv2d(8, 16, 5), nn.MaxPool2d(2), nn.ReLU()),
        *(nn.Flatten(), nn.Linear(256, 84), nn.ReLU(), nn.Linear(84, 10), nn.Softmax(1)),
    )


def pairs(first: int, stop: int) -> list[tuple[int, int]]:
    return [(place, place + 1) for place in range(first, stop - 1, 2)]


def knowledge_base(digits: nn.Module, images: Tensor, added: Sequence[tuple[int, int]]) -> lnnkit.KnowledgeBase:
    """The rules over some pairs of images."""
    kb = lnnkit.loads(PROGRAM)
    kb.bind("Digit", digits, {f"i{place}": images[place] for pair in added for place in pair})
    kb.tell("Pair", [(f"i{a}", f"i{b}") for a, b in added])
    return kb


def run(images: Tensor, labels: Tensor, count: int, epochs: int, seed: int) -> dict[str, float]:
    """Train on the pairs of the first ``count`` images; the accuracies on those held back."""
    torch.manual_seed(seed)
    digits, started = network(), time.process_time()
    train, held = pairs(0, count), pairs(len(images) - HELD_BACK, len(images))
    kb = knowledge_base(digits, images, train)
    kb.label("Sum", [(f"i{a}", f"i{b}", str(int(labels[a] + labels[b]))) for a, b in train])
    kb.fit(epochs=epochs, batch=32, loss="log", soft=True, validation=0.1, seed=seed)
    seconds = time.process_time() - started
    with torch.no_grad():
        found = digits(images[-HELD_BACK:]).argmax(1) == labels[-HELD_BACK:]
    likeliest: dict[tuple[str, str], tuple[float, str]] = {}
    for answer in knowledge_base(digits, images, held).ask("Sum(X, Y, S)"):
        pair = answer.bindings["X"], answer.bindings["Y"]
        likeliest[pair] = max(likeliest.get(pair, (0.0, "")), (answer.lower, answer.bindings["S"]))
    right = [likeliest[f"i{a}", f"i{b}"][1] == str(int(labels[a] + labels[b])) for a, b in held]
    return {
        "seed": seed,
        "pairs": len(train),
        "digits": round(float(found.double().mean()), 4),
        "sums": round(sum(right) / len(right), 4),
        "seconds": round(seconds, 1),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=7_000, help="images to learn from (default: 7,000)")
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--format", choices=("table", "json"), default="table")
    options = parser.parse_args(arguments)
    try:
        images = read_idx(options.data / "dev8k-images-idx3-ubyte.gz").float() / 255
        labels = read_idx(options.data / "dev8k-labels-idx1-ubyte.gz").long()
    except OSError as problem:
        print(f"no images: {problem}", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    most = min(options.images, len(images) - HELD_BACK)
    rows = []
    for seed in range(options.seeds):
        rows.append(run(images, labels, most, options.epochs, seed))
        if options.format == "table":
            print("  ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
    if options.format == "json":
        print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
