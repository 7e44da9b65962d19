"""``lnnkit show``: rules with their values in place."""

from __future__ import annotations

from pathlib import Path

import pytest

from lnnkit.cli import main

PEOPLE = "number age(person)\nnumber debt(person)\nnumber income(person)\npredicate Known(person)\n"


def shown(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    (tmp_path / "p.lnn").write_text(PEOPLE + text)
    assert main(["show", str(tmp_path / "p.lnn")]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("rule age(X) > ?60 -> Old(X)", "rule age(X) > 60 -> Old(X)"),
        ("rule r: Known(X)@?w=0.7 & Old(X)@2 -> Old(X)", "rule r: Known(X)@0.7 & Old(X)@2 -> Old(X)"),
        ("rule (Known(X) & Old(X)){bias: ?b=1.2} -> Old(X)", "rule (Known(X) & Old(X)){bias: 1.2} -> Old(X)"),
        ("rule Known(X) -> Old(X) in [?l=0.5, 1]", "rule Known(X) -> Old(X) in [0.5, 1]"),
        ("rule (age(X) > ?){scale: ?2} -> Old(X)", "rule (age(X) > ?){scale: 2} -> Old(X)"),
        ("rule age(X) ^ 2 > 2 * ?-3 -> Old(X)", "rule age(X)^2 > 2 * -3 -> Old(X)"),
        (
            "rule npu(debt(X), income(X)){power: [?1, -1]} > ?t=0.41 -> Old(X)",
            "rule debt(X) / income(X) > 0.41 -> Old(X)",
        ),
        (
            "rule nau(debt(X) + 1, nmu(age(X), income(X)){weight: [1, 1]}){weight: [-1, 1]} > 0 -> Old(X)",
            "rule -(debt(X) + 1) + age(X) * income(X) > 0 -> Old(X)",
        ),
        (
            "rule nau(debt(X), income(X)){weight: [1, 0.75]} > 0 -> Old(X)",
            "rule debt(X) + 0.75 * income(X) > 0 -> Old(X)  # residual 0.25",
        ),
        (
            "axiom forall x: realnpu(age(x), debt(x)){power: [2, 0]} > 0 | Known(x)",
            "axiom forall x: age(x)^2 > 0 | Known(x)",
        ),
        ("rule npu(debt(X), age(X)) > 2 -> Old(X)", "rule npu(debt(X), age(X)) > 2 -> Old(X)"),
        (
            "rule nau(debt(X), age(X)){weight: [?, 1]} > 2 -> Old(X)",
            "rule nau(debt(X), age(X)){weight: [?, 1]} > 2 -> Old(X)",
        ),
        (
            "rule nalu(debt(X), age(X)){weight: [1, 0.5], gate: [1, 1]} > 2 -> Old(X)",
            "rule nalu(debt(X), age(X)){weight: [1, 0.5], gate: [1, 1]} > 2 -> Old(X)  # residual 0.5",
        ),
        (  # at most sigmoid(-2) from 0 and 1
            "rule (debt(X) <?> 3){weight: [2, -1, -1]} -> Old(X)",
            "rule debt(X) > 3 -> Old(X)  # residual 0.12",
        ),
        ("rule (debt(X) <?> 3){weight: [2000, -1000, -1000]} -> Old(X)", "rule debt(X) > 3 -> Old(X)"),
        (
            "rule (debt(X) <?> 3){weight: [2, -1, -1], scale: 2} -> Old(X)",
            "rule (debt(X) <?> 3){weight: [2, -1, -1], scale: 2} -> Old(X)",
        ),
        (
            "rule (debt(X) <?> income(X)){weight: [?a=-2, ?-1, ?a]} -> Old(X)",
            "rule debt(X) < income(X) -> Old(X)  # residual 0.27",
        ),
        (
            'axiom ∀x (Known(x) → Old(x)) & Known("New York")',
            'axiom (forall x: Known(x) -> Old(x)) & Known("New York")',
        ),
    ],
)
def test_values_are_in_place(rule: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(f"{rule}\n", tmp_path, capsys) == f"{line}\n"


def test_names_are_shared_between_rules_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.lnn").write_text("rule age(X) > ?cut -> Old(X)\nfact age(anna) = 3\n")
    text = 'import "other.lnn"\nrule one: age(X) <= ?cut=65 & Known(X) -> ~Old(X)\nquery Old(X)\n'
    assert shown(text, tmp_path, capsys) == (
        "rule age(X) > 65 -> Old(X)\nrule one: age(X) <= 65 & Known(X) -> ~Old(X)\n"
    )


def test_errors_are_reported_without_reading_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown('load Known from "nowhere.csv"\nrule Known(X) -> Old(X)\n', tmp_path, capsys) == (
        "rule Known(X) -> Old(X)\n"
    )
    (tmp_path / "bad.lnn").write_text("rule Known(X) > 3 -> Old(X)\nfact Known(anna)\n")
    assert main(["show", str(tmp_path / "bad.lnn")]) == 1
    assert "error[truth-as-number]" in capsys.readouterr().err
