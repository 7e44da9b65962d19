"""The colours of pages, pictures and charts, each for a light and for a dark background.

Blue and orange stand for true and false, because they differ for people who cannot tell red from green. Text on every
fill and every line on the page keep the contrast that WCAG 2.1 asks for (4.5 and 3); tests work the ratios out.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple


class Colour(NamedTuple):
    """One role: ``#rrggbb`` on a light and on a dark background."""

    light: str
    dark: str


_ROLES = {
    # what lies behind, texts, and lines that only separate
    "paper": ("#ffffff", "#161a22"), "ink": ("#1d2433", "#e7eaf1"), "soft": ("#5a6476", "#a5afc1"),
    "rule": ("#d8dde7", "#363e4d"), "panel": ("#f4f6fa", "#1f2530"), "mark": ("#fff0b8", "#57470f"),
    # boxes: a fill and the line around it
    "true": ("#c9e0f6", "#123c63"), "true-line": ("#1c5d9c", "#7fbaf0"),
    "likely-true": ("#e8f2fb", "#16283b"), "likely-true-line": ("#5583b1", "#6f9dc9"),
    "unknown": ("#ededed", "#2b2f37"), "unknown-line": ("#737373", "#9ba1ab"),
    "likely-false": ("#fcf0e3", "#36291b"), "likely-false-line": ("#a56c36", "#cb9962"),
    "false": ("#f9d4ad", "#583410"), "false-line": ("#8d4805", "#f2ab64"),
    "contradiction": ("#f7cbdf", "#5b1738"), "contradiction-line": ("#9f1b5a", "#ff8fc2"),
    "number": ("#e3e1f6", "#29254f"), "number-line": ("#5850a1", "#aaa2f1"),
    "statement": ("#e3e9f3", "#252d3e"), "statement-line": ("#495e89", "#90a6d2"),
    "plain": ("#fdfdfe", "#191e27"), "plain-line": ("#647588", "#94a2b4"),
    # arrows
    "for": ("#53627b", "#a4b2ca"), "against": ("#a53d29", "#f1917d"),
    # curves, and bars
    "series-1": ("#0b61a3", "#6db5f1"), "series-2": ("#b64e1d", "#f39b6c"), "series-3": ("#2e7c45", "#80d096"),
    "series-4": ("#893e9f", "#d49ce7"), "series-5": ("#876700", "#dab94b"), "series-6": ("#0e7d84", "#60d1d7"),
    "series-7": ("#a73152", "#f18ba7"), "series-8": ("#585f6c", "#b4bbc7"), "faint": ("#8a93a3", "#6d7788"),
    "tone-true": ("#3d85c6", "#4f95d6"), "tone-false": ("#d9782d", "#d98440"), "tone-none": ("#8c919b", "#7f8591"),
}  # fmt: skip
PALETTE = MappingProxyType({role: Colour(*shades) for role, shades in _ROLES.items()})


def role(state: str) -> str:
    """The role of a truth state's fill; that of its line has ``-line`` behind it."""
    return state.replace("_", "-")
