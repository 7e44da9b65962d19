"""What the constants of loading change: ``python -m benchmarks.load_constants``.

CPU milliseconds to load 300,000 rows of texts and numbers, the least of four runs, at several values of each constant.
"""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path
from types import ModuleType
from unittest import mock

import lnnkit
from lnnkit.data import names
from lnnkit.data.cells import texts
from lnnkit.data.readers import delimited

ROWS = 300_000
CONSTANTS: dict[tuple[ModuleType, str], tuple[str, tuple[float, ...]]] = {
    (delimited, "BLOCK"): ("texts", (1 << 18, 1 << 20, 1 << 22)),
    (delimited, "LARGE"): ("texts", (1 << 18, 8 << 20, 1 << 30)),
    (texts, "_SPREAD"): ("numbers", (1, 4, 16)),
    (names, "SMALL"): ("numbers", (1_000, 20_000, 400_000)),
}


def write(folder: Path) -> None:
    """Programs ``texts.lnn`` and ``numbers.lnn``, with a table each."""
    rng = random.Random(0)
    texts = (f"person{rng.randrange(200_000)},city-{rng.randrange(5_000)},{rng.random():.4f}\n" for _ in range(ROWS))
    (folder / "texts.csv").write_text("a,b,v\n" + "".join(texts))
    (folder / "texts.lnn").write_text('number V(x, y)\nload V from "texts.csv"\n')
    numbers = (f"{rng.randrange(200_000)},{rng.randrange(10**9)}\n" for _ in range(ROWS))
    (folder / "numbers.csv").write_text("a,b\n" + "".join(numbers))
    (folder / "numbers.lnn").write_text('load W from "numbers.csv"\n')


def milliseconds(path: Path) -> float:
    taken = []
    for _ in range(4):
        start = time.process_time()
        lnnkit.load(path)
        taken.append(time.process_time() - start)
    return 1000 * min(taken)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        for (module, name), (program, values) in CONSTANTS.items():
            found = []
            for value in values:
                with mock.patch.object(module, name, value):
                    found.append(f"{value}: {milliseconds(Path(folder) / f'{program}.lnn'):.0f} ms")
            print(f"{module.__name__}.{name} (now {getattr(module, name)}):", ", ".join(found), flush=True)


if __name__ == "__main__":
    main()
