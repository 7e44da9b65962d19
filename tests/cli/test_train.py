"""``lnnkit train`` and ``lnnkit eval``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lnnkit
from lnnkit.cli import main

TEXT = """
fact A(x) = 0.9
fact A(y) = 0.4
fact A(z) = 0.6
rule r: A(X) -> B(X) in [?, 1] # how true is it?
label B(x) in [0.7, 1]
label B(y) in [0.2, 1]
label B(z) in [0.4, 1]
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.lnn"
    path.write_text(TEXT, encoding="utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_train_writes_a_program_and_ends_with_its_scores(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = program.with_name("trained.lnn")
    code, text, err = run(capsys, "train", str(program), "-o", str(out), "--seed", "0", "--format", "json")
    assert (code, err) == (0, "")
    found = json.loads(text)
    assert found["train"]["predicates"]["B"]["n"] == 3 and found["validation"] is None
    assert found["parameters"]["r/lower1"] == pytest.approx(0.8, abs=0.02)
    written = out.read_text(encoding="utf-8")
    assert "rule r: A(X) -> B(X) in [?0.8, 1] # how true is it?\n" in written
    assert lnnkit.load(out).ask("B(x)").lower[0] == pytest.approx(0.7, abs=0.02)


def test_eval_prints_scores(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text, err = run(capsys, "eval", str(program), "--format", "json")
    assert (code, err) == (0, "")
    found = json.loads(text)["predicates"]["B"]
    assert found["n"] == 3 and 0 <= found["accuracy"] <= 1 and "auroc" in found
    code, text, _ = run(capsys, "eval", str(program))
    assert code == 0 and text.splitlines()[0].split()[:3] == ["predicate", "n", "accuracy"]


@pytest.mark.parametrize(
    ("options", "code"), [(["--only", "q"], "unknown-rule"), (["--freeze", "r"], "nothing-to-learn")]
)
def test_untrainable_values_are_reported(
    program: Path, capsys: pytest.CaptureFixture[str], options: list[str], code: str
) -> None:
    out = program.with_name("trained.lnn")
    result, text, err = run(capsys, "train", str(program), "-o", str(out), *options)
    assert (result, text) == (1, "") and f"error[{code}]" in err and not out.exists()


def test_frozen_rules_are_named(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(program.with_name("trained.lnn"))
    _, _, err = run(capsys, "train", str(program), "-o", out, "--freeze", "r")
    assert "hint: `only` and `freeze` exclude every rule that learns: r\n" in err
    program.write_text("fact A(x)\naxiom a: A(X) -> B(X)\nlabel B(x)\n", encoding="utf-8")
    _, _, err = run(capsys, "train", str(program), "-o", out)
    assert "hint: axioms and imported rules learn nothing" in err


def test_a_program_without_labels_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.lnn"
    path.write_text("fact A(x)\nrule A(X) -> B(X)\n", encoding="utf-8")
    for arguments in (["eval", str(path)], ["train", str(path), "-o", str(tmp_path / "o.lnn")]):
        code, _, err = run(capsys, *arguments)
        assert code == 1 and "error[no-labels]" in err


@pytest.mark.parametrize("option", [["--rate", "0"], ["--validation", "1"], ["--alpha", "0.4"], ["--epochs", "x"]])
def test_usage(program: Path, capsys: pytest.CaptureFixture[str], option: list[str]) -> None:
    code, _, err = run(capsys, "train", str(program), "-o", "o.lnn", *option)
    assert code == 2 and option[0] in err


@pytest.mark.parametrize(
    ("options", "told"),
    [(["--threads", "100000"], "must be at most 1,024"), (["--seed", str(10**30)], "must fit 64 bits")],
)
def test_options_beyond_all_measure_are_refused(
    options: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "any.lnn", "-o", "out.lnn", *options]) == 2
    assert told in capsys.readouterr().err


def test_no_file_overwrites_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, table = tmp_path / "p.lnn", tmp_path / "a.csv"
    program.write_text('load A from "a.csv"\nrule A(X)@? -> B(X)\nlabel B(x) = 0.5\n')
    table.write_text("who\nx\n")
    before = program.read_text(), table.read_text()
    out, other = str(tmp_path / "t.lnn"), str(tmp_path / "a.csv")
    for options, said in (
        (["-o", out, "--report", str(tmp_path / "x.pdf")], "must end in .html or .htm; got "),
        (["-o", out, "--report", out], "must end in .html or .htm"),
        (["-o", out, "--checkpoint", out], "the same file"),
        (["-o", out, "--checkpoint", str(program)], "overwrite the program"),
        (["-o", other], "must end in .lnn or .safetensors"),
        (["-o", out, "--checkpoint", other], "read by the program"),
        (["-o", out, "--slack", "1"], "--slack needs --classical"),
        (["-o", out, "--alpha", "0.8"], "--alpha needs --classical"),
    ):
        assert main(["train", str(program), "--epochs", "1", *options]) in (1, 2)
        assert said in capsys.readouterr().err
    assert main(["draw", str(program), "-o", other, "--format", "svg"]) == 1
    with pytest.raises(lnnkit.Error, match="overwritten-source"):
        lnnkit.load(program).save(table)
    with pytest.raises(lnnkit.Error, match="overwritten-source"):
        lnnkit.load(program).fit(epochs=1, checkpoint=table)
    assert (program.read_text(), table.read_text()) == before
    assert not (tmp_path / "t.lnn").exists()
    assert main(["train", str(program), "--epochs", "1", "--soft", "-o", out]) == 0
