"""A model file holds the program as it is read, and its numbers exactly."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors import safe_open

import lnnkit
from lnnkit.cli import main
from tests.blocks import at_length

TEXT = """
predicate Old(person)
number age(person)
fact age(a) = 10
fact age(b) = 20
fact age(c) = 31
fact age(d) = 40
label Old(c)
label Old(d)
label ~Old(a)
label ~Old(b)
rule old: age(X) >= ?limit -> Old(X)
query Old(X)
"""


def test_numbers_come_back_exactly(tmp_path: Path) -> None:
    kb = lnnkit.loads(TEXT)
    (limit,) = kb.module().parameters()
    with torch.no_grad():
        limit.fill_(25.0000000000001)
    kb.save(tmp_path / "old.safetensors")
    again = lnnkit.load(tmp_path / "old.safetensors")
    assert [value.item() for value in again.module().parameters()] == [25.0000000000001]
    assert [answer.bindings for answer in again.ask("Old(X)")] == [{"X": "c"}, {"X": "d"}]


def test_the_command_line_reads_what_it_has_trained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "old.lnn").write_text(TEXT)
    out = str(tmp_path / "out.safetensors")
    assert main(["train", str(tmp_path / "old.lnn"), "-o", out, "--epochs", "20"]) == 0
    assert main(["show", out]) == 0
    assert "age(X) >= " in capsys.readouterr().out


def test_the_command_line_takes_the_numbers_exactly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kb = lnnkit.loads(TEXT.replace("= 31", "= 25.000001"))
    (limit,) = kb.module().parameters()
    with torch.no_grad():
        limit.fill_(25.000002)
    path = tmp_path / "old.safetensors"
    kb.save(path)
    assert main(["run", str(path), "--format", "csv"]) == 0
    answers = capsys.readouterr().out
    assert "\nd," in answers
    assert "\nc," not in answers
    before = path.read_bytes()
    assert main(["fmt", "--write", str(path)]) == 2
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"rule A -> B", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "])
def test_what_is_no_model_file(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bad.safetensors"
    path.write_bytes(content)
    with pytest.raises(lnnkit.ProgramError) as caught:
        lnnkit.load(path)
    assert [finding.code for finding in caught.value.diagnostics] == ["no-model"]


WEIGHED = (
    "A(X) & B(X) -> C(X)",
    "A(X) & B(X) & D(X) -> C(X)",
    "A(X)@0.3 & B(X) & D(X) -> C(X)",
    "(A(X) | B(X)) & D(X) -> C(X)",
    "~(A(X) & B(X)) | D(X) -> C(X)",
    "(A(X) & B(X))@0.4 -> C(X)@0.7",
    "A(X)@0.5 <-> B(X)@0.6",
    "A(X) -> C(X)",
)


@pytest.mark.parametrize("rule", at_length(WEIGHED, plain=1))
def test_weights_keep_their_places_whichever_are_written(rule: str, tmp_path: Path) -> None:
    """A weight that comes to be 1 is not written, one that leaves it is: each has the name that it had."""
    facts = "fact A(a) = 0.9\nfact B(a) = 0.6\nfact D(a) = 0.8\n"
    names = list(lnnkit.loads(f"rule r: {rule}\n{facts}").module().names)
    weights = [name for name in names if "weight" in name]
    for name in weights:
        for other in (1.0, 0.7):
            kb = lnnkit.loads(f"rule r: {rule}\n{facts}")
            kb.module().load(dict.fromkeys(weights, other) | {name: 0.5})
            kb.save(tmp_path / "r.safetensors")
            again = lnnkit.load(tmp_path / "r.safetensors")
            assert again.text == kb.text == lnnkit.loads(kb.text).text
            for query in ("A(a)", "B(a)", "C(a)"):
                if f"{query[0]}(X)" in rule:
                    assert str(again.ask(query)) == str(kb.ask(query)) == str(lnnkit.loads(kb.text).ask(query))


@pytest.mark.slow
def test_equal_trainings_write_equal_files(tmp_path: Path) -> None:
    text = TEXT + "predicate Grey(person)\nfact Grey(a) = 0.6\nrule grey: Grey(X) & age(X) > 5 -> Old(X)\n"
    for place in range(12):  # safetensors alone writes either order of two keys
        kb = lnnkit.loads(text)
        checkpoint = tmp_path / f"checkpoint{place}.safetensors"
        kb.fit(epochs=8, checkpoint=checkpoint, listen=lambda epoch: epoch.epoch < 3)
        kb.save(tmp_path / f"model{place}.safetensors")
    for name in ("checkpoint", "model"):
        assert len({path.read_bytes() for path in tmp_path.glob(f"{name}*")}) == 1


def test_the_tensors_of_a_model_file_are_read_by_safetensors(tmp_path: Path) -> None:
    kb = lnnkit.loads(TEXT.replace("Old(c)", "Old(é)").replace("age(c)", "age(é)"))
    kb.fit(epochs=2)
    kb.save(tmp_path / "old.safetensors")
    with safe_open(tmp_path / "old.safetensors", framework="numpy") as file:
        assert file.metadata()["program"] == kb.text
        assert [float(file.get_tensor(name)) for name in file.keys()] == [  # noqa: SIM118  # no mapping
            each.item() for each in kb.module().parameters()
        ]
