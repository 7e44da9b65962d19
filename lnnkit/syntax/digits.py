"""Numbers formatted for people."""

from __future__ import annotations


def in_digits(value: float) -> str:
    """Whole numbers that floats hold exactly in full, other numbers to ten digits."""
    return str(int(value)) if abs(value) <= 2**53 and float(value).is_integer() else f"{value:.10g}"
