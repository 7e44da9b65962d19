"""What a second trial as a new user tripped over, each with what it says now."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import lnnkit
from lnnkit.cli import main
from lnnkit.scoring.row_streams import RowStream
from lnnkit.scoring.scoring_run import score
from tests.mistakes.trying import findings

POLICY = """\
predicate Role(user, role) closed
fact Role(ann, editor)
rule Role(U, editor) -> May(U, write)
query May(U, A)
"""


def test_an_entity_that_a_rule_concludes_is_not_taken_for_a_slip(tmp_path: Path) -> None:
    assert findings(POLICY, tmp_path) == []


@pytest.mark.parametrize(
    "rule",
    [
        "rule Role(U, editer) -> May(U, write)",  # a slip in the body
        "rule Role(U, R) -> May(U, editr)",  # near an entity that is known
        "rule Role(someone, R) -> May(someone, R)",  # a variable in lower case
    ],
)
def test_what_may_be_a_slip_is_still_warned_of(rule: str, tmp_path: Path) -> None:
    text = POLICY.replace("rule Role(U, editor) -> May(U, write)", rule)
    assert "unknown-entity" in {each.code for each in findings(text, tmp_path)}


def test_what_a_module_supplies_may_be_false() -> None:
    kb = lnnkit.loads("""\
predicate Bird(animal)
predicate Penguin(animal)
fact Bird(tux)
rule Bird(X) & ~Penguin(X) -> Flies(X)
""")
    assert [each.code for each in kb.warnings] == ["never-false"]
    kb.bind("Penguin", torch.nn.Sequential(torch.nn.Flatten(0), torch.nn.Sigmoid()), {"tux": torch.full((1,), -9.0)})
    assert kb.warnings == ()
    (answer,) = kb.ask("Flies(X)")
    assert answer.lower > 0.99


def test_a_fit_prints_in_a_few_lines() -> None:
    kb = lnnkit.loads("""\
fact Old(ann)
fact Old(bob)
rule risk: Old(X) -> AtRisk(X) in [?, 1]
label AtRisk(ann) = 0.7
label AtRisk(bob) = 0.7
""")
    fit = kb.fit()
    printed = str(fit).splitlines()
    assert len(printed) <= 3 + len(fit.warnings) * 5
    assert printed[0].startswith("fitted until ")
    assert any(line.startswith("learned: risk/") for line in printed), printed


@pytest.mark.parametrize("ids", [True, False])
def test_a_found_formula_without_rows_is_not_said_to_answer(
    ids: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(f"r{place}", 0.5 + 0.37 * place, 7.0 + 1.11 * place) for place in range(30)]  # b = 3 a + 5.5
    lines = [f"{name},{a:.6g},{b:.6g}" if ids else f"{a:.6g},{b:.6g}" for name, a, b in rows]
    table, program = tmp_path / "line.csv", tmp_path / "line.lnn"
    table.write_text("\n".join(["id,a,b" if ids else "a,b", *lines]) + "\n")
    assert main(["discover", str(table), "--target", "b", "-o", str(program), "--seconds", "2"]) == 0
    told = capsys.readouterr().err
    answered = lnnkit.load(program).answers()[0]
    assert ("try `lnnkit run" in told) == bool(len(answered)) == ids, told


def test_a_csv_on_standard_input_is_sent_to_its_path(tmp_path: Path) -> None:
    program, table = tmp_path / "odd.lnn", tmp_path / "pay.csv"
    program.write_text("""\
number amount(payment)
load amount from "pay.csv" (id, amount)
rule amount(X) > 1000 -> Odd(X)
query Odd(X)
""")
    table.write_text("id,amount\np1,2000\n")
    scorer = lnnkit.load(program, streamed="payment").scorer("payment")
    with pytest.raises(lnnkit.Error) as met, table.open("rb") as piped:
        score(scorer, RowStream(Path("-"), standard_input=piped), tmp_path / "out.csv")
    assert "is read by its path: `--rows SORT=rows.csv`" in met.value.diagnostics[0].hint
    assert main(["score", str(program), "-o", str(tmp_path / "out.csv"), "--rows", f"payment={table}"]) == 0


def test_an_entity_that_starts_upper_case_is_quoted_in_questions() -> None:
    kb = lnnkit.loads('fact Late("L1000") = 0.2\nrule ~Late(X) -> Grant(X)\nquery Grant(X)')
    with pytest.raises(lnnkit.ProgramError) as met:
        kb.explain("Grant(L1000)")
    assert '"L1000"' in met.value.diagnostics[0].hint
    assert kb.explain('Grant("L1000")').lower == pytest.approx(0.8)
