"""How well answers agree with labels, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True)
class Score:
    """How the answers for ``n`` labelled atoms of one predicate agree with their labels.

    The *score* of an atom is the midpoint of its bounds; of a predicate whose upper ends no rule can tell, and which is
    thus read as false where nothing is known, its lower end (and the other way round). It is taken as true above one
    half; a label is true if its midpoint is above one half. ``auroc`` and ``aupr`` are None where all labels are alike.
    ``calibration`` is the expected calibration error over ten bins of equal width; ``coverage`` the share of atoms that
    are decided: true (lower above one half) or false (upper below one half); ``distance`` the mean absolute distance of
    the bounds from those of the labels; ``contradictions`` counts atoms whose bounds are crossed.
    """

    n: int
    positives: int
    accuracy: float
    auroc: float | None
    aupr: float | None
    log_loss: float
    brier: float
    calibration: float
    coverage: float
    distance: float
    contradictions: int

    def as_dict(self) -> dict[str, float | int | None]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores by predicate, and how many contradictions inference met in all."""

    predicates: Mapping[str, Score] = field(default_factory=dict)
    contradictions: int = 0

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit eval --format json`` prints."""
        found = {name: score.as_dict() for name, score in self.predicates.items()}
        return {"predicates": found, "contradictions": self.contradictions}

    @property
    def accuracy(self) -> float:
        """Over all labels together."""
        total = sum(score.n for score in self.predicates.values())
        return sum(score.accuracy * score.n for score in self.predicates.values()) / total if total else 0.0
