"""Quick fixes: what a hint names, tried on the table of mistakes; none that leaves another mistake is offered."""

from __future__ import annotations

from pathlib import Path

import pytest

from lnnkit.editor.shown_findings import quick_fixes
from tests.mistakes.eighty import FILES, MISTAKES, PRELUDE
from tests.mistakes.trying import findings


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fixes")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def fixed(line: str, folder: Path, before: str = PRELUDE) -> list[str]:
    """The line as each of its quick fixes leaves it."""
    text = f"{before}{line}\n"
    edits = [
        fix.edit
        for finding in findings(text, folder)
        for fix in quick_fixes(text, finding, lambda changed: findings(changed, folder))
    ]
    return [(text[: each.start] + each.text + text[each.end :])[len(before) :].rstrip("\n") for each in edits]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("fct Person(cleo)", "fact Person(cleo)"),
        ("rule Person(X), age(X) > 17 -> Adult(X)", "rule Person(X) & age(X) > 17 -> Adult(X)"),
        ("rule age(X) is 34 -> Exact(X)", "rule age(X) = 34 -> Exact(X)"),
        ("rule age(X) BETWEEN 10 AND 20 -> Teen(X)", None),  # what is left of it would not parse
        ("rule income(X) > 1,000 -> Rich(X)", "rule income(X) > 1000 -> Rich(X)"),
        ("rule income(X) > 5k -> Rich(X)", "rule income(X) > 5000 -> Rich(X)"),
        ("rule age(X) = 18..65 -> Works(X)", "rule 18 <= age(X) <= 65 -> Works(X)"),
        ("rule nau(age(X) income(X)) > 2 -> Rich(X)", None),  # what the general message names is no fix
        ("Adult(X) :- Person(X), age(X) > 17.", "rule Person(X) & age(X) > 17 -> Adult(X)"),
        ('load Adult from "poeple.csv" (name)', 'load Adult from "people.csv" (name)'),
        ('load Adult from "people.csv" (nmae)', 'load Adult from "people.csv" (name)'),
        ("rule count(X) > 3 -> Many(X)", None),  # the hint has an example
        ("query Parent(X, Y) where Y = bob", "query Parent(X, Y) & Y = bob"),
        ("fact Person(cleo).", "fact Person(cleo)"),
        ("query Persn(X)", "query Person(X)"),
        ("query Person(X)?", "query Person(X)"),
        ("rule Smokes(X) & Person(X) -> Ill(X)", "predicate Smokes(entity)\nrule Smokes(X) & Person(X) -> Ill(X)"),
    ],
)
def test_fixes(wrong: str, right: str | None, folder: Path) -> None:
    found = fixed(wrong, folder)
    assert found[:1] == ([] if right is None else [right])


def test_most_mistakes_of_a_first_hour_have_a_fix_that_is_right(folder: Path) -> None:
    plain = [mistake for mistake in MISTAKES if not mistake.advice]
    marks = str.maketrans("", "", "⟦⟧")
    found = [fixed(mistake.wrong.translate(marks), folder) for mistake in plain]
    right = sum("".join(mistake.right.split()) in ["".join(each.split()) for each in fixes]
                for mistake, fixes in zip(plain, found, strict=True))  # fmt: skip
    assert right > 0.75 * len(plain), (right, len(plain))
