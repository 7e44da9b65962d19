"""The files around the package agree on version and licence, and the workflow runs the check of this tree."""

from __future__ import annotations

import re
import tomllib

import lnnkit
from tests.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_version_is_one() -> None:
    assert re.search(r"^version: (.+)$", text("CITATION.cff"), re.MULTILINE)[1] == lnnkit.__version__  # type: ignore[index]
    newest = re.search(r"^## (\d+\.\d+\.\d+)", text("CHANGELOG.md"), re.MULTILINE)
    assert newest
    assert newest[1] == lnnkit.__version__


def test_the_licence_is_one() -> None:
    assert PROJECT["license"] == "Apache-2.0"
    assert re.search(r"^license: Apache-2.0$", text("CITATION.cff"), re.MULTILINE)
    licence = text("LICENSE")
    assert "Version 2.0, January 2004" in licence
    assert "END OF TERMS AND CONDITIONS" in licence


def test_entries_of_the_changelog_are_one_line_each_and_grouped() -> None:
    lines = text("CHANGELOG.md").split("\n## ", 1)[1].splitlines()[1:]
    prose = [line for line in lines if line and not line.startswith(("- ", "### ", "## "))]
    assert prose == ["The first version."]


def test_every_extra_is_pinned() -> None:
    pinned = {_package(line) for line in text("constraints.txt").splitlines() if "==" in line}
    extras = PROJECT["optional-dependencies"]
    assert {_package(each) for own in extras.values() for each in own} <= pinned


def _package(requirement: str) -> str:
    return re.split(r"[\[>=]", requirement)[0].lower().replace("-", "_")


def test_the_workflow_runs_the_whole_check() -> None:
    assert re.search(r"^ +- run: \.ci/run$", text(".github/workflows/ci.yml"), re.MULTILINE)
    check = text(".ci/run")
    assert "mkdocs build" in check
    assert "twine check --strict" in check


def test_hooks_fetch_nothing() -> None:
    hooks = text(".pre-commit-config.yaml")
    assert re.findall(r"^ +- repo: (.+)$", hooks, re.MULTILINE) == ["local"]
    assert set(re.findall(r"language: (\w+)", hooks)) == {"system"}
