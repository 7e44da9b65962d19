"""CPU seconds an epoch of learning a conjunction of ten weighted operands, over all rows, on one thread.

    python -m benchmarks.learning_speed [ROWS ...] [--epochs 200] [--format table|json]

lnnkit fits weights and bias of ``rule p0(X) & ... & p9(X) -> q(X)`` to the labels of all rows (``kb.fit``; its further
inferences, by which it checks what won, are shared out among the epochs, and the first is not counted). Against it: a
logistic regression in plain torch, with Adam as well, and LTNtorch, where it is installed: the same conjunction of
tables, which implies a learned predicate. IBM's LNN is not run: it took 1.36 CPU seconds an epoch at 10,000 rows,
upward only, when it was measured by itself.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import torch

import lnnkit

OPERANDS = 10
SIZES = (10_000, 100_000, 1_000_000)
IBM = {10_000: 1.36}
_RATE = 0.05


def conjunction(truths: np.ndarray, labels: np.ndarray) -> lnnkit.KnowledgeBase:
    """A conjunction of weighted operands over all rows, told and labelled."""
    names = [f"row{place}" for place in range(len(labels))]
    body = " & ".join(f"p{place}(X)@?w{place}=1" for place in range(OPERANDS))
    declared = "".join(f"predicate p{place}(row)\n" for place in range(OPERANDS))
    kb = lnnkit.loads(f"{declared}predicate q(row) closed\nrule r: ({body}){{bias: ?b=1}} -> q(X)\n")
    for place in range(OPERANDS):
        kb.tell(f"p{place}", {"row": names, "truth": truths[:, place]})
    kb.label("q", {"row": names, "truth": labels})
    return kb


def lnnkit_epoch(truths: np.ndarray, labels: np.ndarray, epochs: int) -> float:
    kb = conjunction(truths, labels)
    moments: list[float] = []

    def listen(_: object) -> None:
        moments.append(time.process_time())

    kb.fit(epochs=epochs, rate=_RATE, validation=0.0, patience=None, decay=0.0, listen=listen)
    return (moments[-1] - moments[0]) / epochs


def regression_epoch(truths: np.ndarray, labels: np.ndarray, epochs: int) -> float:
    rows, target = torch.from_numpy(truths), torch.from_numpy(labels)
    model = torch.nn.Linear(OPERANDS, 1, dtype=torch.float64)
    optimiser = torch.optim.Adam(model.parameters(), lr=_RATE)

    def step() -> None:
        optimiser.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(model(rows)[:, 0], target).backward()
        optimiser.step()

    return _mean(step, epochs)


def ltn_epoch(truths: np.ndarray, labels: np.ndarray, epochs: int) -> float:
    """In single precision, as it casts to."""
    ltn = import_module("ltn")
    rows = torch.from_numpy(truths).float()
    model = torch.nn.Sequential(torch.nn.Linear(OPERANDS, 1), torch.nn.Sigmoid())
    learned = ltn.Predicate(func=lambda x: model(x)[:, 0])
    columns = [ltn.Predicate(func=lambda x, place=place: x[:, place]) for place in range(OPERANDS)]
    both, implies = ltn.Connective(ltn.fuzzy_ops.AndLuk()), ltn.Connective(ltn.fuzzy_ops.ImpliesLuk())
    forall = ltn.Quantifier(ltn.fuzzy_ops.AggregPMeanError(p=2), quantifier="f")
    optimiser = torch.optim.Adam(model.parameters(), lr=_RATE)

    def step() -> None:
        x = ltn.Variable("x", rows)
        body = columns[0](x)
        for column in columns[1:]:
            body = both(body, column(x))
        optimiser.zero_grad()
        (1 - forall(x, implies(body, learned(x))).value).backward()
        optimiser.step()

    return _mean(step, epochs)


ENGINES: dict[str, Callable[[np.ndarray, np.ndarray, int], float]] = {
    "lnnkit": lnnkit_epoch,
    "regression": regression_epoch,
    "LTNtorch": ltn_epoch,
}


def _mean(step: Callable[[], None], epochs: int) -> float:
    step()
    began = time.process_time()
    for _ in range(epochs):
        step()
    return (time.process_time() - began) / epochs


def generated(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Truths of the operands (n, 10), and labels by a planted conjunction."""
    rng = np.random.default_rng(seed)
    truths = rng.uniform(0.9, 1.0, (rows, OPERANDS))
    weights = np.array([1.0, 0.9, 0.8, *np.zeros(OPERANDS - 3)])
    return truths, np.clip(1 - (1 - truths) @ weights, 0, 1)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.learning_speed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("rows", nargs="*", type=int, help=f"default: {', '.join(map(str, SIZES))}")
    parser.add_argument("--epochs", type=int, default=200, help="default: 200, as in kb.fit")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    present = [name for name in ENGINES if name != "LTNtorch" or find_spec("ltn") is not None]
    if "LTNtorch" not in present:
        print("LTNtorch is left out: it is not installed (pip install LTNtorch)", file=sys.stderr)
    found: list[dict[str, float | int | None]] = []
    for rows in options.rows or SIZES:
        truths, labels = generated(rows)
        seconds = {name: ENGINES[name](truths, labels, options.epochs) for name in present}
        found.append({"rows": rows, **seconds, "IBM, measured earlier": IBM.get(rows)})
        if options.format == "table":
            print(_line(found[-1]), flush=True)
    if options.format == "json":
        print(json.dumps(found, indent=2))
    return 0


def _line(found: dict[str, float | int | None]) -> str:
    own, plain = found["lnnkit"], found["regression"]
    assert own is not None and plain is not None
    shown = ", ".join(f"{name} {value:.4f}" for name, value in found.items() if name != "rows" and value is not None)
    return f"{found['rows']:>9,} rows: {shown}; {own / plain:.1f} times the regression"


if __name__ == "__main__":
    sys.exit(main())
