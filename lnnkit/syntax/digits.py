"""Numbers as people read them."""

from __future__ import annotations


def in_digits(value: float) -> str:
    """Whole numbers in full, as far as floats hold them, others to ten digits."""
    return str(int(value)) if abs(value) <= 2**53 and float(value).is_integer() else f"{value:.10g}"
