"""The leaps of a run of rounds: how many, how far, and whether they may have changed the order of contradictions."""

from __future__ import annotations

from dataclasses import dataclass

_REACH = 2e6  # on the ways of all leaps together, rounding is amplified by no more


class Disturbed(Exception):
    """A contradiction after a leap that did not keep step: which one comes first may depend on it."""


@dataclass(slots=True)
class Leaps:
    """The leaps of a run; none where they are not ``permitted``. ``strict`` ones keep step: all that moves goes the
    same number of rounds, up to the last one before anything else happens; so contradictions are met as they are round
    by round."""

    strict: bool = False
    permitted: bool = True
    made_so_far: int = 0
    _reach: float = 0.0  # what rounding was amplified by on all their ways
    _out_of_step: bool = False

    @property
    def allowed(self) -> bool:
        return self.permitted and self._reach < _REACH

    def made(self, reach: float, *, exact: bool) -> None:
        """A leap amplified rounding by ``reach``; an ``exact`` one kept step."""
        self.made_so_far += 1
        self._reach += reach
        self._out_of_step |= not exact

    def rested(self) -> None:
        """Nothing moves any more: however the rounds came here, they would have come here."""
        self._out_of_step = False

    def disturbed(self) -> None:
        """A contradiction is met. Raises `Disturbed` if the order of leaps may have brought it about."""
        if self._out_of_step:
            raise Disturbed
