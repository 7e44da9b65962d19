"""Proofs by cases: bounds that hold in each of several exhaustive cases, where no single chain of rules derives
them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lnnkit.answer_table import TruthState, finite, formatter, number_state, state_in_words, truth_state
from lnnkit.explain.proof.explanation import Explanation
from lnnkit.explain.proof.proof_data import TOLERANCE
from lnnkit.syntax.diagnostic import Diagnostic


@dataclass(frozen=True)
class Case:
    """One case of a split: the ``assumed`` literal and its consequences; ``outcome`` is None if the assumption
    contradicts the program, as ``conflict`` shows."""

    assumed: str
    outcome: CaseNode | None
    conflict: Callable[[], str] | None = None


@dataclass(frozen=True)
class CaseSplit:
    """Exhaustive cases: at least one holds in every world. ``ground`` is the proof of the disjunction, unless it is a
    tautology."""

    text: str
    cases: tuple[Case, ...]
    ground: Callable[[], Explanation] | None = None


@dataclass(frozen=True)
class CaseNode:
    """The bounds of the queried formula under some assumptions: those of propagation (``proof``) met with the bounds
    that the cases of each of the ``splits`` have in common."""

    lower: float
    upper: float
    proof: Callable[[], Explanation]
    splits: tuple[CaseSplit, ...] = ()


@dataclass(frozen=True)
class CaseExplanation:
    """Why a formula has its bounds, by cases. It prints as a tree: each split, its cases, and in each case the proof
    from the assumptions. ``warnings`` are about the question, and about cases that were not tried."""

    atom: str
    root: CaseNode
    classical: bool = False
    alpha: float = 1.0
    numeric: bool = False
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def lower(self) -> float:
        return self.root.lower

    @property
    def upper(self) -> float:
        return self.root.upper

    @property
    def state(self) -> TruthState:
        if self.numeric:
            return number_state(self.lower, self.upper)
        return truth_state(self.lower, self.upper, self.alpha)

    def text(self, depth: int | None = None) -> str:
        """The tree; proofs show no more than ``depth`` steps behind each other."""
        shown = formatter(self.numeric)
        head = f"{self.atom}  {shown(self.lower, self.upper)}  {state_in_words(self.state, False)}"
        reading = "truths are 0 or 1 (the classical reading)" if self.classical else "truths are any from 0 to 1"
        if not self.root.splits:
            return f"{self.root.proof().text(depth)}\n\nno cases were needed"
        return "\n".join([head, f"by cases; {reading}", "", *_node(self.root, _Shown(self.atom, shown, depth))])

    def as_dict(self, depth: int | None = None) -> dict[str, object]:
        """The object that ``lnnkit explain --cases --format json`` prints: ``{"atom", "state", "reading", "lower",
        "upper", "proof", "splits": [{"split", "ground", "cases": [{"assumed", "contradiction", ...}]}]}``, each case
        that is not contradictory repeats the fields of the atom."""
        reading = "classical" if self.classical else "exact"
        return {"atom": self.atom, "state": self.state, "reading": reading, **_as_dict(self.root, depth)}

    def verify(self) -> list[str]:
        """The faults found in the proofs and in the bounds that the cases have in common. Empty if all hold."""
        return list(_faults(self.root, self.classical and not self.numeric))

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class _Shown:
    """The question, the format of its bounds, and the depth to which proofs are shown."""

    atom: str
    bounds: Callable[[float, float], str]
    depth: int | None


def _node(node: CaseNode, shown: _Shown) -> Iterator[str]:
    if not node.splits:
        yield from node.proof().text(shown.depth).splitlines()
        return
    for number, split in enumerate(node.splits):
        if number:
            yield ""
        yield f"cases of {split.text}"
        if split.ground is not None:
            yield from (f"│  {line}".rstrip() for line in split.ground().text(shown.depth).splitlines())
        for place, case in enumerate(split.cases):
            last = place == len(split.cases) - 1
            yield f"{'└─' if last else '├─'} case {case.assumed}"
            yield from _case(case, shown, "   " if last else "│  ")


def _case(case: Case, shown: _Shown, rail: str) -> Iterator[str]:
    if case.outcome is None:
        told = ["contradiction: this case is impossible"]
        told += case.conflict().splitlines() if case.conflict is not None else []
    else:
        bounds = shown.bounds(case.outcome.lower, case.outcome.upper)
        told = [f"{shown.atom}  {bounds}"] if case.outcome.splits else []
        told += _node(case.outcome, shown)
    for line in told:
        yield f"{rail}{line}".rstrip()


def _as_dict(node: CaseNode, depth: int | None) -> dict[str, object]:
    found: dict[str, object] = {"lower": finite(node.lower), "upper": finite(node.upper)}
    if not node.splits:
        return found | {"proof": node.proof().as_dict(depth), "splits": []}
    splits: list[dict[str, object]] = []
    for split in node.splits:
        cases: list[dict[str, object]] = []
        for case in split.cases:
            own: dict[str, object] = {"assumed": case.assumed, "contradiction": case.outcome is None}
            if case.outcome is not None:
                own |= _as_dict(case.outcome, depth)
            elif case.conflict is not None:
                own["conflict"] = case.conflict()
            cases.append(own)
        ground = None if split.ground is None else split.ground().as_dict(depth)
        splits.append({"split": split.text, "ground": ground, "cases": cases})
    return found | {"proof": None, "splits": splits}


def _faults(node: CaseNode, classical: bool) -> Iterator[str]:
    proof = node.proof()
    yield from proof.verify()
    lower, upper = proof.lower, proof.upper
    for split in node.splits:
        if split.ground is not None:
            yield from split.ground().verify()
        left = [case.outcome for case in split.cases if case.outcome is not None]
        for outcome in left:
            yield from _faults(outcome, classical)
        if left:
            lower = max(lower, min(outcome.lower for outcome in left))
            upper = min(upper, max(outcome.upper for outcome in left))
    if classical:
        lower, upper = as_crisp(lower, upper)
    if node.lower > lower + TOLERANCE or node.upper < upper - TOLERANCE:
        yield f"[{node.lower}, {node.upper}] is tighter than the cases allow: [{lower}, {upper}]"


def as_crisp(lower: float, upper: float) -> tuple[float, float]:
    """The bounds of a truth that is 0 or 1."""
    return (1.0 if lower > TOLERANCE else 0.0), (0.0 if upper < 1 - TOLERANCE else 1.0)
