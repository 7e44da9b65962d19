"""Single precision says what double precision says, to 1e-4; precisions and devices that there are not are refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import lnnkit
from lnnkit.cli import main
from lnnkit.computing import computing
from lnnkit.engine.response import respond
from tests.blocks import at_length, in_blocks
from tests.oracle import robust, run
from tests.programs import MODES, generate, to_text

WITHIN = 1e-4
EXAMPLES = sorted((Path(__file__).parents[2] / "kb_examples").glob("*/*.lnn"))
Table = dict[tuple[int, tuple[str, ...]], tuple[float, float]]


def answered(kb: lnnkit.KnowledgeBase, precision: str) -> Table:
    kb.infer(precision=precision)
    return {
        (number, tuple(answer.bindings.values())): (answer.lower, answer.upper)
        for number, answers in enumerate(kb.answers())
        for answer in answers
    }


def differences(single: Table, double: Table) -> list[str]:
    """Where they differ; a binding that only one lists is left out, as it is within tolerance of the default."""
    return [
        f"{key}: {single[key]}, {double[key]}"
        for key in single.keys() & double.keys()
        if any(abs(a - b) > WITHIN for a, b in zip(single[key], double[key], strict=True))
    ]


@pytest.mark.parametrize("path", at_length(EXAMPLES, plain=6), ids=lambda path: path.stem)
def test_examples(path: Path) -> None:
    kb = lnnkit.load(path)
    single, double = answered(kb, "single"), answered(kb, "double")
    assert single.keys() == double.keys()
    assert not differences(single, double)


@pytest.mark.parametrize("block", in_blocks(range(100), 25, plain=3))
def test_random_programs(block: range) -> None:
    compared = 0
    for seed in block:
        program = generate(seed, 1 + seed % 6, MODES[seed % 3]).program
        result = run(program)
        if result.status != "converged" or not robust(program, result, jitter=1e-6, within=WITHIN / 2):
            continue
        compared += 1
        kb = lnnkit.loads(to_text(program))
        single, double = answered(kb, "single"), answered(kb, "double")
        found = differences(single, double)
        found += [f"{key}: only one lists it" for key in single.keys() ^ double.keys()]
        assert not found, f"seed {seed}:\n{to_text(program)}\n" + "\n".join(found)
    assert compared >= 0.7 * len(block)


def test_bounds_are_held_in_single_precision() -> None:
    kb = lnnkit.loads("fact A(a) in [0.1, 0.7]\nrule A(X) -> B(X) in [0.9, 1]\nquery A(X)\nquery B(X)\n")
    kb.infer(precision="single")
    (fixpoint,) = kb._session.fixpoints.values()
    table = fixpoint.run.grounding.atoms.tables["A"]
    assert table.end(0).dtype == table.end(1).dtype == np.float32
    (known,) = kb.ask("A(X)")
    assert (known.lower, known.upper) == (0.1, 0.7)  # without the digits that single precision does not have
    assert kb.ask("A(X)").lower.dtype == "float64"
    kb.infer()
    (fixpoint,) = kb._session.fixpoints.values()
    assert fixpoint.run.grounding.atoms.tables["A"].end(0).dtype == np.float64


def test_states_have_the_tolerance_of_the_precision() -> None:
    kb = lnnkit.loads("fact A(a) = 0.999997\nquery A(X)\n")
    assert kb.ask("A(a)")[0].state == "likely_true"
    kb.infer(precision="single")
    assert kb.ask("A(a)")[0].state == "true"


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.lnn").write_text("fact A(a) in [0.3, 0.9]\nrule A(X) -> B(X) in [0.9, 1]\nquery B(X)\n")
    assert main(["run", str(tmp_path / "p.lnn"), "--precision", "single", "--format", "json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)["queries"][0]["answers"]
    assert (answer["lower"], answer["upper"]) == (0.2, 1)
    for options in (["--precision", "half"], ["--device", "tpu"], ["--device", "cuda:x"]):
        assert main(["run", str(tmp_path / "p.lnn"), *options]) == 2
        assert options[1] in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"precision": "half"}, "unknown-precision"),
        ({"precision": None}, "unknown-precision"),
        ({"device": "tpu"}, "unknown-device"),
        ({"device": torch.device("cpu")}, "unknown-device"),
    ],
)
def test_an_unknown_name(options: dict, code: str) -> None:
    kb = lnnkit.loads("fact A(a)\nquery A(X)\n")
    before = kb.infer(precision="single")
    with pytest.raises(lnnkit.Error) as raised:
        kb.infer(**options)
    (finding,) = raised.value.diagnostics
    assert finding.code == code
    assert finding.hint
    assert kb.answers()[0].tolerance == 1e-5  # as before
    assert before.status == "converged"


@pytest.mark.parametrize(
    ("built", "there", "device", "message", "hint"),
    [
        (None, 0, "cuda", "is built without CUDA", "or install a build of torch with CUDA"),
        ("12.8", 0, "cuda", "torch finds no CUDA device", "compute on the CPU"),
        ("12.8", 2, "cuda:2", "torch finds 2 CUDA devices", "from cuda:0 to cuda:1"),
    ],
)
def test_a_missing_device(
    built: str | None,
    there: int,
    device: str,
    message: str,
    hint: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(torch.version, "cuda", built)  # the machine
    monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(there))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: there)
    with pytest.raises(lnnkit.Error) as raised:
        computing("double", device)
    (finding,) = raised.value.diagnostics
    assert finding.code == "missing-device"
    assert finding.message.endswith(message)
    assert finding.hint.endswith(hint)
    (tmp_path / "p.lnn").write_text("fact A(a)\nquery A(X)\n")
    assert main(["run", str(tmp_path / "p.lnn"), "--device", device]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert f"error[missing-device] the device '{device}' is not available" in err


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_cuda(path: Path) -> None:
    on_cpu, on_gpu = lnnkit.load(path), lnnkit.load(path)
    on_cpu.infer()
    on_gpu.infer(device="cuda")
    for one, other in zip(on_cpu.answers(), on_gpu.answers(), strict=True):
        assert one.columns == other.columns
        assert one.lower == pytest.approx(other.lower, abs=1e-9)
        assert one.upper == pytest.approx(other.upper, abs=1e-9)


@pytest.mark.parametrize("path", at_length(EXAMPLES, plain=2))
def test_kernels_elsewhere(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What kernels read and find is carried to a device and back: here to the same one."""
    plain = lnnkit.load(path)
    plain.infer()
    monkeypatch.setattr(respond, "CPU", "")  # the machine: no device but this one can be counted on
    carried = lnnkit.load(path)
    carried.infer()
    for one, other in zip(plain.answers(), carried.answers(), strict=True):
        assert one.columns == other.columns
        assert (one.lower.tolist(), one.upper.tolist()) == (other.lower.tolist(), other.upper.tolist())
