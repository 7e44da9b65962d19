"""``python -m tests.mutation --package engine --sample 100``: how many small faults in a package the tests notice.

It draws mutants and runs for each, in a copy of the tree, the tests that reach the changed line: first those of the
package's own folder, each time the fastest first, until one fails. A mutant survives where none does. One that takes
too long is killed. Survivors are printed; what is the same program to all who use it has to be told by hand.

What tests reach is measured at first, in minutes; ``--reached FOLDER`` keeps it for the next run on the same tree.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import cache_from_source
from pathlib import Path

from tests.mutation.mutants import Mutant, mutants
from tests.mutation.reached import PYTEST, WITHOUT_PLUGINS, Reached, reached

ROOT = Path(__file__).parents[2]
PACKAGES = ("logic", "numeric", "join", "engine")
_FOLDERS = ("logic", "numeric", "join", "engine", "trail", "answers", "kb", "aggregates", "dates", "rows", "laws")
_CHECKS = ("oracle", "explain", "prove", "learn")
_FILES = ("agreement", "agreement_numbers", "ibm_lnn", "elementwise", "examples", "planted_worlds", "planted_numbers")
TESTS = [*(f"tests/{folder}" for folder in _FOLDERS + _CHECKS), *(f"tests/test_{name}.py" for name in _FILES)]
# The other tests run through the same code, more slowly.

MEMORY = 12 << 30  # bytes of addresses, of which torch takes some: a mutant that fills more is killed


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description="The mutation score of a package.")
    parser.add_argument("--package", action="append", choices=PACKAGES, help="a folder of lnnkit; all unless given")
    parser.add_argument("--sample", type=int, default=100, help="how many mutants of each package, 100 unless given")
    parser.add_argument("--seed", type=int, default=0, help="which mutants, 0 unless given")
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests for one mutant, 60 unless given")
    parser.add_argument("--reached", type=Path, help="a folder for what tests reach, measured where it is not there")
    given = parser.parse_args(arguments)
    with copied_tree() as tree:
        sources = [f"lnnkit/{package}" for package in PACKAGES]
        by_tests = reached(tree, given.reached or tree / "reached", sources, TESTS)
        for package in given.package or PACKAGES:
            files = sorted((tree / "lnnkit" / package).rglob("*.py"))
            whole = [mutant for path in files for mutant in mutants(path.relative_to(tree), tree)]
            sample = random.Random(given.seed).sample(whole, min(given.sample, len(whole)))
            print(f"{package}: {len(sample)} of {len(whole)} mutants, seed {given.seed}", flush=True)
            score(tree, sample, by_tests, package, given.seconds)


def score(tree: Path, sample: Sequence[Mutant], by_tests: Reached, package: str, seconds: float) -> None:
    """Runs the mutants of a sample, prints each that survives, and the share that was killed at the end."""
    outcomes: Counter[str] = Counter()
    for number, mutant in enumerate(sample, 1):
        start = time.monotonic()
        tests = by_tests.tests(mutant, package, seconds)
        found = outcome(tree, mutant, tests, 20 + 3 * sum(by_tests.seconds[test] for test in tests))
        outcomes[found] += 1
        if found == "survived":
            print(
                f"\n{number}. {len(tests)} tests, {time.monotonic() - start:.0f} s: {mutant.difference()}", flush=True
            )
    killed, number = outcomes["killed"] + outcomes["timed out"], len(sample)
    share = killed / number
    error = math.sqrt(share * (1 - share) / number)
    print(f"\n{package}: {dict(outcomes)}; {share:.0%} of {number} killed, standard error {error:.0%}", flush=True)


def outcome(tree: Path, mutant: Mutant, tests: Sequence[str], limit: float) -> str:
    """``killed``, ``survived`` or ``timed out``: what the tests say of a mutant within so many seconds."""
    if not tests:
        return "survived"
    place = tree / mutant.path
    original = place.read_text(encoding="utf-8")
    _write(place, mutant.text())
    command = [sys.executable, "-m", "pytest", "-x", *PYTEST, *tests]
    environment = os.environ | {"PYTHONPATH": str(tree), **WITHOUT_PLUGINS}
    process = subprocess.Popen(
        command,
        cwd=tree,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )
    try:
        return "killed" if process.wait(limit) else "survived"
    except subprocess.TimeoutExpired:
        return "timed out"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        _write(place, original)


def _write(place: Path, text: str) -> None:
    """Writes a module whose compiled form must not stay: that is told from an older one by seconds and size alone."""
    place.write_text(text, encoding="utf-8")
    Path(cache_from_source(str(place))).unlink(missing_ok=True)


@contextmanager
def copied_tree() -> Iterator[Path]:
    """The files of the checkout, those that git ignores left out, in a folder that goes in the end."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    with tempfile.TemporaryDirectory() as folder:
        for name in filter(None, names):
            if (ROOT / name).is_file():
                (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, Path(folder) / name)
        yield Path(folder)


if __name__ == "__main__":
    main()
