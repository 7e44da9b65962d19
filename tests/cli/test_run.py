"""``lnnkit run``: the contract of section 4 of the design, and what a user sees when things are wrong."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

import lnnkit.kb
from lnnkit.cli import main

ROOT = Path(__file__).parents[2]
TRIAGE = """\
predicate Contact(person, person) closed
load Contact from "contacts.csv"
fact Infected(anna)
fact Infected(bob) in [0.2, 0.6]
fact Cough(bob) = 0.7
rule spread: Infected(X) & Contact(X, Y) -> Infected(Y) in [0.8, 1]
query Infected(X)
query  Infected(bob) and ~ Cough(bob)   # not as the printer writes it
"""
CONTACTS = "a,b\nanna,dora\nbob,emil\n"


@pytest.fixture
def triage(tmp_path: Path) -> str:
    (tmp_path / "contacts.csv").write_text(CONTACTS)
    (tmp_path / "triage.lnn").write_text(TRIAGE)
    return str(tmp_path / "triage.lnn")


@pytest.fixture
def program(tmp_path: Path):
    def write(text: str) -> str:
        path = tmp_path / "p.lnn"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def answer(bindings: dict[str, str], lower: float, upper: float, state: str, contested: bool = False) -> dict:
    return {"bindings": bindings, "lower": lower, "upper": upper, "state": state, "contested": contested}


def test_json(triage: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", triage, "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("\n") == 1
    printed = json.loads(out)
    assert list(printed) == ["queries", "contradictions", "status", "rounds"]
    assert printed["queries"][0] == {
        "query": "Infected(X)",
        "answers": [
            answer({"X": "anna"}, 1.0, 1.0, "true"),
            answer({"X": "bob"}, 0.2, 0.6, "likely_false"),
            answer({"X": "dora"}, 0.8, 1.0, "likely_true"),
        ],
    }
    assert printed["queries"][1]["query"] == "Infected(bob) and ~ Cough(bob)"
    assert printed["contradictions"] == []
    assert printed["status"] == "converged"
    assert printed["rounds"] == 1


def test_json_of_contradictions(program, capsys: pytest.CaptureFixture[str]) -> None:
    path = program("fact A(anna)\nfact ~A(anna)\nfact ~B(bob)\nfact A(bob)\nrule r: A(X) -> B(X)\nquery A(anna)\n")
    assert main(["run", path, "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    atom, rule = printed["contradictions"]
    assert atom == {"kind": "atom", "atom": "A(anna)", "rule": None, "line": None, "lower": 1.0, "upper": 0.0}
    assert (rule["kind"], rule["rule"], rule["line"]) == ("rule", "r", 5)
    assert printed["queries"][0]["answers"] == [answer({}, 1.0, 0.0, "contradiction", True)]


def test_csv(triage: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", triage, "-q", "Infected(X)", "--format", "csv"]) == 0
    out, err = capsys.readouterr()
    assert out == "X,lower,upper,state\nanna,1.0,1.0,true\nbob,0.2,0.6,likely_false\ndora,0.8,1.0,likely_true\n"
    assert err == "converged after 1 round\n"


def test_table(triage: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", triage]) == 0
    assert capsys.readouterr().out == (
        "Infected(X)\n"
        "  X     bounds      state\n"
        "  anna  [1, 1]      true\n"
        "  bob   [0.2, 0.6]  likely false\n"
        "  dora  [0.8, 1]    likely true\n"
        "\n"
        "Infected(bob) and ~ Cough(bob)\n"
        "  [0, 0]  false\n"
        "\n"
        "converged after 1 round\n"
    )


def test_table_of_contradictions(program, capsys: pytest.CaptureFixture[str]) -> None:
    path = program("fact A(anna)\nfact ~A(anna)\nfact ~B(bob)\nfact A(bob)\nrule r: A(X) -> B(X)\nquery A(X)\n")
    assert main(["run", path]) == 0
    out = capsys.readouterr().out
    assert "  anna  [1, 0]  contradiction (contested)\n" in out
    assert "\n2 contradictions\n  atom    [1, 0]  A(anna)\n" in out
    assert f"A(bob) -> B(bob)  {path}:5\n" in out


def test_digits_and_wide_names(program, capsys: pytest.CaptureFixture[str]) -> None:
    text = 'fact A("日本") = 0.09999999999999998\nfact A(ab) in [0.99999999, 1]\nfact A("x\\n\x1b[31m")\nquery A(X)\n'
    assert main(["run", program(text)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "  ab           [0.99999999, 1]  likely true"
    assert lines[3] == "  x\\n\\x1b[31m  [1, 1]           true"
    assert lines[4] == "  日本         [0.1, 0.1]       likely false"


NUMBERS = """\
number age(person)
number limit
fact age(anna) = 34
fact age(bob) in [0.5, 20]
fact age(cleo) in [18, inf]
fact age(dora) = 3
fact age(dora) = 5
query age(X)
query age(X) * 2
query limit
query age(X) >= 18
"""


def test_numbers_as_a_table(program, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", program(NUMBERS)]) == 0
    assert (
        capsys.readouterr().out
        == """\
age(X)
  X     bounds     state
  anna  34         number
  bob   [0.5, 20]  number
  cleo  [18, inf]  number
  dora  [5, 3]     contradiction (contested)

age(X) * 2
  X     bounds     state
  anna  68         number
  bob   [1, 40]    number
  cleo  [36, inf]  number

limit
  [-inf, inf]  number

age(X) >= 18
  X     bounds  state
  anna  [1, 1]  true
  cleo  [1, 1]  true

1 contradiction
  atom  at least 5, at most 3  age(dora)

converged after 0 rounds
"""
    )


def test_numbers_as_json_and_csv(program, capsys: pytest.CaptureFixture[str]) -> None:
    path = program(NUMBERS)
    assert main(["run", path, "-q", "age(X)", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["queries"][0]["answers"][1:3] == [
        answer({"X": "bob"}, 0.5, 20.0, "number"),
        {"bindings": {"X": "cleo"}, "lower": 18.0, "upper": None, "state": "number", "contested": False},
    ]
    contradiction = {"kind": "atom", "atom": "age(dora)", "rule": None, "line": None, "lower": 5.0, "upper": 3.0}
    assert found["contradictions"] == [contradiction]
    assert main(["run", path, "-q", "age(X)", "--format", "csv"]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows[3] == ["cleo", "18.0", "", "number"]


def test_queries_replace_the_programs(triage: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", triage, "-q", "Cough(X)", "-q", "query Infected(anna)", "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [each["query"] for each in printed["queries"]] == ["Cough(X)", "Infected(anna)"]


def test_no_query(program, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", program("fact A(anna)\nfact ~A(anna)\n"), "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert "no query" in err
    assert json.loads(out)["queries"] == []
    assert len(json.loads(out)["contradictions"]) == 1


def test_warnings_go_to_standard_error(program, capsys: pytest.CaptureFixture[str]) -> None:
    path = program("fact A(anna)\nquery A(ana)\n")
    assert main(["run", path, "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert "warning[unknown-entity]" in err
    assert json.loads(out)["status"] == "converged"
    assert main(["run", path, "-q", "A(anan)"]) == 1
    err = capsys.readouterr().err
    assert "<query>:1:3: error[unknown-entity]" in err and "did you mean `anna`?" in err


@pytest.mark.parametrize("command", [["explain"], ["explain", "--why-not", "true"], ["draw"]])
def test_an_unknown_entity_is_no_question(command: list[str], program, capsys: pytest.CaptureFixture[str]) -> None:
    path = program("predicate A(entity)\nfact A(anna)\n")
    assert main([command[0], path, "A(anan)", *command[1:]]) == 1
    err = capsys.readouterr().err
    assert "<query>:1:3: error[unknown-entity]" in err and "did you mean `anna`?" in err


@pytest.mark.parametrize("command", [["explain"], ["explain", "--why-not", "true"], ["draw"]])
def test_warnings_about_what_is_explained_go_there_too(
    command: list[str], program, capsys: pytest.CaptureFixture[str]
) -> None:
    path = program("predicate A(entity)\nfact A(anna)\nquery A(anan)\n")
    assert main([command[0], path, "A(anan)", *command[1:]]) == 0
    assert "<query>:1:3: warning[unknown-entity]" in capsys.readouterr().err


def test_alpha_and_limits(triage: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", triage, "--alpha", "0.8", "-q", "Infected(dora)", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["queries"][0]["answers"][0]["state"] == "true"
    assert main(["run", triage, "--max-groundings", "1"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "error[too-many-groundings] the rule `spread` over X, Y would take" in err
    assert "Traceback" not in err


def test_threads(triage: str) -> None:
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    try:
        for options, wanted in ([], 1), (["--threads", "2"], 2):
            assert main(["run", triage, *options]) == 0
            assert torch.get_num_threads() == wanted
    finally:
        torch.set_num_threads(before)


def test_round_limit(program, capsys: pytest.CaptureFixture[str]) -> None:
    links = "".join(f"fact E(a{i}, a{i + 1})\n" for i in range(9))
    path = program(f"fact R(a0)\n{links}rule R(X) & E(X, Y) -> R(Y)\nquery R(X)\n")
    assert main(["run", path, "--max-rounds", "2", "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["status"], printed["rounds"]) == ("round_limit", 2)


@pytest.mark.parametrize(
    "options",
    [
        ["--alpha", "0.5"],
        ["--alpha", "nan"],
        ["--alpha", "x"],
        ["--max-rounds", "0"],
        ["--max-groundings", "1.5"],
        ["--threads", "-1"],
        ["--format", "xml"],
        ["--form", "json"],
        ["-q"],
    ],
)
def test_usage(triage: str, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", triage, *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("usage: lnnkit ")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("fact P(anna\n", "unclosed-group"),
        ("query P(X)\n", "unknown-predicate"),
        ('load P from "nope.csv"\nquery P(X)\n', "missing-file"),
        ('load P from "bad.csv"\nrule P(X, Y) -> Q(X, Y)\n', "bad-row"),
        ('import "nope.lnn"\n', "import-not-found"),
        ("number age(person)\nrule age(X) > ? -> P(X)\nquery P(anna)\n", "untrained"),
    ],
)
@pytest.mark.parametrize("form", ["table", "json"])
def test_wrong_programs(
    text: str, code: str, form: str, program, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.csv").write_text("a,b\nx\n")
    assert main(["run", program(text), "--format", form]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert f"error[{code}]" in err


@pytest.mark.parametrize("query", ["", "P(", "Nope(X)", "A(X, Y)", "rule A(X)", "\udcff"])
def test_wrong_queries(query: str, program, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", program("fact A(anna)\n"), "-q", query]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "<query>:1:" in err


def test_defects_show_no_traceback(
    triage: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("boom\nand more")

    monkeypatch.setattr(lnnkit.kb.KnowledgeBase, "infer", fail)  # a defect
    monkeypatch.delenv("LNNKIT_TRACEBACK", raising=False)
    assert main(["run", triage]) == 1
    err = capsys.readouterr().err
    assert err.startswith("error[internal] lnnkit failed: RuntimeError: boom\n")
    assert "report this defect to" in err and "Traceback" not in err
    monkeypatch.setenv("LNNKIT_TRACEBACK", "1")
    with pytest.raises(RuntimeError):
        main(["run", triage])


def test_out_of_memory(triage: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(lnnkit.kb.KnowledgeBase, "infer", fail)  # a defect
    assert main(["run", triage]) == 1
    assert "error[out-of-memory]" in capsys.readouterr().err


# --- in a process of its own ----------------------------------------------------------------------------------------


def start(
    *arguments: str, stdin: IO[str] | None = None, stdout: IO[str] | int = subprocess.PIPE
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "lnnkit", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""},
        text=True,
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
    )


def test_standard_input(program) -> None:
    with open(program("fact Infected(anna)\n"), encoding="utf-8") as text:
        process = start("run", "-", "-q", "Infected(anna)", stdin=text)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out.startswith("Infected(anna)\n  [1, 1]  true\n")


@pytest.mark.slow
def test_a_closed_pipe_is_quiet(program) -> None:
    facts = "".join(f"fact A(some-entity-{i})\n" for i in range(3000))
    process = start("run", program(f"{facts}query A(X)\n"))
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == "A(X)\n"
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    assert process.stderr.read() == ""
    process.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.slow
def test_a_full_disk(triage: str) -> None:
    with open("/dev/full", "w") as full:
        process = start("run", triage, stdout=full)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert err == "error[output] the output cannot be written: No space left on device\n"


@pytest.mark.slow
def test_ctrl_c(program) -> None:
    """While it loads it ends at once; see tests/cli/test_terminal.py for what it does while it infers."""
    process = start("run", program("".join(f"fact A(e{i})\n" for i in range(200_000))))
    time.sleep(1.5)  # past the interpreter's own start
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")
