"""LTNtorch, on one thread. It has no inference: for the table its formula is evaluated on either end of the intervals;
for smokers the truths of all people are an embedding, fitted to the rules in 100 epochs of Adam."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

import torch

from benchmarks.relational.data import BODY, Data
from benchmarks.relational.workloads import Checks

EPOCHS = 100

ltn = import_module("ltn")


class Table:
    """Lukasiewicz conjunctions of predicates that look their rows up, single precision, without gradients."""

    def __init__(self, data: Data) -> None:
        torch.set_num_threads(1)
        self.ends = [self._predicates(data, end) for end in ("lower", "upper")]
        self.rows = ltn.Variable("x", torch.arange(data.size, dtype=torch.float32)[:, None])
        self.conjunction = ltn.Connective(ltn.fuzzy_ops.AndLuk())

    def _predicates(self, data: Data, end: str) -> list[Callable[[object], object]]:
        tables = [torch.from_numpy(data.values(f"p{i}_{end}")).float() for i in range(BODY)]
        return [ltn.Predicate(func=lambda x, table=table: table[x[:, 0].long()]) for table in tables]

    def infer(self) -> None:
        with torch.no_grad():
            self.lower, self.upper = (self._evaluated(predicates) for predicates in self.ends)

    def _evaluated(self, predicates: list[Callable[[object], object]]) -> torch.Tensor:
        truth: object = predicates[0](self.rows)
        for predicate in predicates[1:]:
            truth = self.conjunction(truth, predicate(self.rows))
        value: torch.Tensor = getattr(truth, "value")  # noqa: B009 - LTNObject is untyped
        return value

    def read(self) -> Checks:
        return {"lower": float(self.lower.double().sum()), "upper": float(self.upper.double().sum())}


class Smokers:
    """Satisfaction of the facts and of the rule over all friendships, by gradient; the truths are not comparable."""

    def __init__(self, data: Data) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(0)
        self.truth = torch.nn.Parameter(torch.zeros(data.size))
        self.smokes = ltn.Predicate(func=lambda x: torch.sigmoid(self.truth[x[:, 0].long()]))
        self.friends, self.known = (torch.from_numpy(data.ids(name)).float() for name in ("friends", "smokers"))

    def infer(self) -> None:
        ops = ltn.fuzzy_ops
        implies = ltn.Connective(ops.ImpliesReichenbach())
        forall = ltn.Quantifier(ops.AggregPMeanError(p=2), quantifier="f")
        both = ops.SatAgg()
        optimiser = torch.optim.Adam([self.truth], lr=0.1)
        for _ in range(EPOCHS):
            x, y = (ltn.Variable(name, self.friends[:, i : i + 1]) for i, name in enumerate("xy"))
            known = ltn.Variable("k", self.known[:, None])
            rule = forall(ltn.diag(x, y), implies(self.smokes(x), self.smokes(y)))
            ltn.undiag(x, y)
            optimiser.zero_grad()
            self.satisfied = both(forall(known, self.smokes(known)), rule)
            (1 - self.satisfied).backward()
            optimiser.step()

    def read(self) -> Checks:
        return {"satisfied": float(self.satisfied.detach())}


RUNS: Mapping[str, Callable[[Data], Table | Smokers]] = {"smokers": Smokers, "table": Table}
