"""Parsers of option values; each raises what argparse expects for a bad value."""

from __future__ import annotations

import argparse
import math

from lnnkit.answer_table import STATES

_THREADS = 1024


def alpha(text: str) -> float:
    """A truth threshold."""
    value = _number(text)
    if not 0.5 < value <= 1:
        raise argparse.ArgumentTypeError(f"must be above 0.5 and at most 1; got {text!r}")
    return value


def count(text: str) -> int:
    """A whole number of at least 1."""
    value = _whole(text)
    if value is None or value < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1; got {text!r}")
    return value


def limit(text: str) -> int:
    """Parses ``--limit``: a whole number of at least 0."""
    value = _whole(text)
    if value is None or value < 0:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 0 (0 shows all); got {text!r}")
    return value


def states(text: str) -> tuple[str, ...]:
    """States of answers, separated by commas, spelt as in JSON (``likely_true``) or as in tables (``likely true``)."""
    named = [" ".join(part.split()).replace(" ", "_").replace("-", "_").lower() for part in text.split(",")]
    for name in named:
        if name not in STATES:
            raise argparse.ArgumentTypeError(f"unknown state {name!r}; the states are {', '.join(STATES)}")
    return tuple(named)


def threads(text: str) -> int:
    """A number of threads."""
    value = count(text)
    if value > _THREADS:
        raise argparse.ArgumentTypeError(f"must be at most {_THREADS:,}; got {text!r}")
    return value


def seed(text: str) -> int:
    """A whole number that fits 64 bits."""
    value = _whole(text)
    if value is None:
        raise argparse.ArgumentTypeError(f"must be a whole number; got {text!r}")
    if not -(2**63) <= value < 2**63:
        raise argparse.ArgumentTypeError(f"must fit 64 bits; got {text!r}")
    return value


def positive(text: str) -> float:
    """A number above 0."""
    value = _number(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number above 0; got {text!r}")
    return value


def share(text: str) -> float:
    """A number from 0 to below 1."""
    value = _number(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"must be from 0 to below 1; got {text!r}")
    return value


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
