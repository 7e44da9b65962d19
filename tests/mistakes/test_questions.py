"""Paths with backslashes, and questions about entities that the program does not have."""

from __future__ import annotations

from pathlib import Path

import pytest

from lnnkit.cli import main
from tests.mistakes.trying import answers, findings


@pytest.mark.parametrize("name", ["contacts.csv", "towns.csv", "new.csv"])  # `\t` and `\n` are escapes
@pytest.mark.parametrize("mark", ["\\\\", "\\"])
def test_a_path_with_backslashes(name: str, mark: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / name).write_text("a,b\nx1,y1\n")
    text = f'load K from "data{mark}{name}"\nquery K(X, Y)\n'
    found = findings(text, tmp_path)[0]
    assert found.line == 1 and "/" in found.hint
    if found.code == "missing-file":
        assert f'data/{name}"' in found.hint
    assert answers(text.replace(mark, "/"), tmp_path) == [[(("x1", "y1"), 1.0, 1.0)]]


@pytest.mark.parametrize("arguments", [["explain"], ["explain", "--why-not"], ["draw"]])
def test_a_query_about_an_unknown_entity(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.lnn"
    path.write_text("fact Infected(dora)\nfact Infected(bob)\n")
    command, *more = arguments
    assert main([command, str(path), "Infected(dorra)", *more]) == 1
    out, err = capsys.readouterr()
    assert out == "" and "error[unknown-entity]" in err and "did you mean `dora`?" in err
    if command == "explain":
        assert main([command, str(path), "Infected(dora)", *more]) == 0


def test_a_program_query_about_an_unknown_entity_warns(tmp_path: Path) -> None:
    text = 'fact Tense("USSR", uk)\nquery Tense("Ussr", Y)\n'
    (found,) = findings(text, tmp_path)
    assert (found.code, found.severity, found.column) == ("unknown-entity", "warning", 13)
    assert 'did you mean `"USSR"`?' in found.hint
    assert answers(text.replace("Ussr", "USSR"), tmp_path) == [[(("uk",), 1.0, 1.0)]]
