"""Which tests run which lines, and how long each takes of the CPU: what decides which tests a mutant is run against."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import coverage
import pytest

from tests.mutation.mutants import Mutant

PYTEST = ("-q", "-p", "no:cacheprovider", "--no-header", "--tb=no")
WITHOUT_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # they take most of a second to load


@dataclass(frozen=True)
class Reached:
    """The tests that ran each line of each file, and the seconds of those that passed."""

    contexts: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]

    def tests(self, mutant: Mutant, package: str, limit: float) -> list[str]:
        """Tests that reach a mutant, the package's own first, then the fastest; together so many seconds at most."""
        by_line = self.contexts.get(str(mutant.path), {})
        lines = by_line if mutant.on_import else mutant.lines
        reaching = {test for line in lines for test in by_line.get(line, ())} & self.seconds.keys()
        own = f"tests/{package}/"
        chosen, total = [], 0.0
        for test in sorted(reaching, key=lambda test: (not test.startswith(own), self.seconds[test], test)):
            total += self.seconds[test]
            if total <= limit or not chosen:
                chosen.append(test)
        return chosen


def reached(tree: Path, folder: Path, sources: Sequence[str], tests: Sequence[str]) -> Reached:
    """What tests reach of the folders ``sources`` of a tree: as kept in ``folder``, or measured and kept there."""
    data, times = folder / "coverage", folder / "seconds.json"
    if not times.exists():
        folder.mkdir(parents=True, exist_ok=True)
        given = [str(data.resolve()), str(times.resolve()), ",".join(sources), *tests]
        environment = os.environ | {"PYTHONPATH": f"{tree}{os.pathsep}{Path(__file__).parents[2]}", **WITHOUT_PLUGINS}
        subprocess.run([sys.executable, __file__, *given], cwd=tree, env=environment, check=True)
    measured = coverage.CoverageData(str(data))
    measured.read()
    by_file = {path: measured.contexts_by_lineno(path) for path in measured.measured_files()}
    return Reached(by_file, json.loads(times.read_text(encoding="utf-8")))


class _Contexts:
    """A plugin of pytest that names the test which runs to coverage, and takes its time."""

    def __init__(self, measuring: coverage.Coverage) -> None:
        self._measuring = measuring
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._measuring.switch_context(item.nodeid)
        start = time.process_time()  # of the CPU: other programs may be busy too
        done = yield
        self.seconds[item.nodeid] = time.process_time() - start
        return done

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome != "passed":
            self.failed.add(report.nodeid)


def _measure(data: str, times: str, sources: str, tests: Sequence[str]) -> None:
    """In a process of its own, at the top of the tree: runs tests under coverage."""
    measuring = coverage.Coverage(data, source=sources.split(","), config_file=False)
    measuring.set_option("run:relative_files", True)
    plugin = _Contexts(measuring)
    measuring.start()
    pytest.main([*PYTEST, *tests], plugins=[plugin])
    measuring.stop()
    measuring.save()
    passed = {test: seconds for test, seconds in plugin.seconds.items() if test not in plugin.failed}
    Path(times).write_text(json.dumps(passed), encoding="utf-8")


if __name__ == "__main__":
    _measure(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
