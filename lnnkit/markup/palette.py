"""The colours of pages, pictures and charts, each for a light and for a dark background.

Blue and orange stand for true and false, because they differ for people who cannot tell red from green. Text on every
fill and every line on the page keep the contrast that WCAG 2.1 asks for (4.5 and 3); tests work the ratios out.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Colour:
    """One role: ``#rrggbb`` on a light and on a dark background."""

    light: str
    dark: str


PALETTE = MappingProxyType(
    {
        "paper": Colour("#ffffff", "#161a22"),
        "ink": Colour("#1d2433", "#e7eaf1"),
        "soft": Colour("#5a6476", "#a5afc1"),
        "rule": Colour("#d8dde7", "#363e4d"),  # lines that only separate
        "panel": Colour("#f4f6fa", "#1f2530"),
        "mark": Colour("#fff0b8", "#57470f"),
        # boxes: a fill and the line around it
        "true": Colour("#c9e0f6", "#123c63"),
        "true-line": Colour("#1c5d9c", "#7fbaf0"),
        "likely-true": Colour("#e8f2fb", "#16283b"),
        "likely-true-line": Colour("#5583b1", "#6f9dc9"),
        "unknown": Colour("#ededed", "#2b2f37"),
        "unknown-line": Colour("#737373", "#9ba1ab"),
        "likely-false": Colour("#fcf0e3", "#36291b"),
        "likely-false-line": Colour("#a56c36", "#cb9962"),
        "false": Colour("#f9d4ad", "#583410"),
        "false-line": Colour("#8d4805", "#f2ab64"),
        "contradiction": Colour("#f7cbdf", "#5b1738"),
        "contradiction-line": Colour("#9f1b5a", "#ff8fc2"),
        "number": Colour("#e3e1f6", "#29254f"),
        "number-line": Colour("#5850a1", "#aaa2f1"),
        "statement": Colour("#e3e9f3", "#252d3e"),
        "statement-line": Colour("#495e89", "#90a6d2"),
        "plain": Colour("#fdfdfe", "#191e27"),
        "plain-line": Colour("#647588", "#94a2b4"),
        # arrows
        "for": Colour("#53627b", "#a4b2ca"),
        "against": Colour("#a53d29", "#f1917d"),
        # curves
        "series-1": Colour("#0b61a3", "#6db5f1"),
        "series-2": Colour("#b64e1d", "#f39b6c"),
        "series-3": Colour("#2e7c45", "#80d096"),
        "series-4": Colour("#893e9f", "#d49ce7"),
        "series-5": Colour("#876700", "#dab94b"),
        "series-6": Colour("#0e7d84", "#60d1d7"),
        "series-7": Colour("#a73152", "#f18ba7"),
        "series-8": Colour("#585f6c", "#b4bbc7"),
        "faint": Colour("#8a93a3", "#6d7788"),
        "tone-true": Colour("#3d85c6", "#4f95d6"),
        "tone-false": Colour("#d9782d", "#d98440"),
        "tone-none": Colour("#8c919b", "#7f8591"),
    }
)


def role(state: str) -> str:
    """The role of a truth state's fill; that of its line has ``-line`` behind it."""
    return state.replace("_", "-")
