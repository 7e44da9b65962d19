"""Contrast of colours after WCAG 2.1, worked out from its definition of relative luminance."""

from __future__ import annotations


def contrast(one: str, other: str) -> float:
    """The ratio of two colours ``#rrggbb``: from 1 (alike) to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    red, green, blue = (_linear(int(colour[place : place + 2], 16) / 255) for place in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4
