"""Parsers of option values; each raises what argparse expects for a bad value."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import TypeVar

from lnnkit.answer_table import STATES
from lnnkit.computing import is_device

_THREADS = 1024
_Whole = TypeVar("_Whole", int, float)


def _number(kind: Callable[[str], _Whole], what: str, holds: Callable[[_Whole], bool]) -> Callable[[str], _Whole]:
    """A parser of the numbers of one kind that hold; any other text ``must be what``."""

    def parsed(text: str) -> _Whole:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not holds(value):
            raise ArgumentTypeError(f"must be {what}; got {text!r}")
        return value

    return parsed


alpha = _number(float, "above 0.5 and at most 1", lambda value: 0.5 < value <= 1)
positive = _number(float, "a number above 0", lambda value: 0 < value < math.inf)
share = _number(float, "from 0 to below 1", lambda value: 0 <= value < 1)
count = _number(int, "a whole number of at least 1", lambda value: value >= 1)
depth = _number(int, "a whole number of at least 0", lambda value: value >= 0)
limit = _number(int, "a whole number of at least 0 (0 shows all)", lambda value: value >= 0)
_whole = _number(int, "a whole number", lambda _: True)


def threads(text: str) -> int:
    """A number of threads."""
    value = count(text)
    if value > _THREADS:
        raise ArgumentTypeError(f"must be at most {_THREADS:,}; got {text!r}")
    return value


def seed(text: str) -> int:
    """A whole number that fits 64 bits."""
    value = _whole(text)
    if not -(2**63) <= value < 2**63:
        raise ArgumentTypeError(f"must fit 64 bits; got {text!r}")
    return value


def device(text: str) -> str:
    """Where to compute."""
    if not is_device(text):
        raise ArgumentTypeError(f"must be cpu, cuda or cuda:N; got {text!r}")
    return text


def states(text: str) -> tuple[str, ...]:
    """States of answers, separated by commas, spelt as in JSON (``likely_true``) or as in tables (``likely true``)."""
    named = [" ".join(part.split()).replace(" ", "_").replace("-", "_").lower() for part in text.split(",")]
    for name in named:
        if name not in STATES:
            raise ArgumentTypeError(f"unknown state {name!r}; the states are {', '.join(STATES)}")
    return tuple(named)
