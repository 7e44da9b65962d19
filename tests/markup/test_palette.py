"""Colours: legible in both schemes, and apart for those who cannot tell red from green."""

from __future__ import annotations

import re

import pytest

from lnnkit.answer_table import STATES
from lnnkit.markup.pages import PALETTE, Colour
from lnnkit.picture.picture import Box
from tests.colours import contrast

SCHEMES = ("light", "dark")
FILLS = [name for name in PALETTE if f"{name}-line" in PALETTE]
SERIES = [name for name in PALETTE if name.startswith("series-")]


def of(name: str, scheme: str) -> str:
    return PALETTE[name].light if scheme == "light" else PALETTE[name].dark


def test_contrast_of_black_on_white_is_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # the example of WCAG's G18


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_is_legible_on_every_background(scheme: str) -> None:
    for name in (*FILLS, "paper", "panel", "mark"):
        assert contrast(of("ink", scheme), of(name, scheme)) >= 7, name
    for name in ("paper", "panel"):
        assert contrast(of("soft", scheme), of(name, scheme)) >= 4.5, name
    for name in ("for", "against", "true-line", "false-line"):  # weights beside arrows; bounds in proofs
        assert contrast(of(name, scheme), of("paper", scheme)) >= 4.5, name


@pytest.mark.parametrize("scheme", SCHEMES)
def test_lines_stand_out_from_the_page_and_from_their_fills(scheme: str) -> None:
    for name in FILLS:
        assert contrast(of(f"{name}-line", scheme), of("paper", scheme)) >= 3, name
        assert contrast(of(f"{name}-line", scheme), of(name, scheme)) >= 3, name
    for name in (*SERIES, "faint", "tone-true", "tone-false", "tone-none"):
        assert contrast(of(name, scheme), of("paper", scheme)) >= 3, name


def test_every_state_has_a_fill_and_a_line() -> None:
    assert {Box("", "atom", (), state).fill for state in STATES} <= set(FILLS)


def test_roles_differ_in_light_so_that_charts_can_be_told_apart_by_them() -> None:
    assert all(re.fullmatch("#[0-9a-f]{6}", shade) for each in PALETTE.values() for shade in (each.light, each.dark))
    assert len({each.light for each in PALETTE.values()}) == len(PALETTE)


def dichromat(colour: str) -> tuple[float, float, float]:
    """How it looks to those without green cones (Viénot, Brettel and Mollon 1999): in linear RGB."""
    rgb = [((int(colour[place : place + 2], 16) / 255) ** 2.2) for place in (1, 3, 5)]
    red, green, blue = rgb
    yellow = 0.29275 * red + 0.70725 * green
    return yellow, yellow, max(0.0, -0.02234 * red + 0.02234 * green + blue)


def apart(one: Colour, other: Colour, scheme: str) -> float:
    pair = [dichromat(getattr(each, scheme)) for each in (one, other)]
    return max(abs(a - b) for a, b in zip(*pair, strict=True))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("one", "other"), [("true-line", "false-line"), ("tone-true", "tone-false"), ("true", "false")]
)
def test_true_and_false_differ_for_people_who_see_no_green(one: str, other: str, scheme: str) -> None:
    assert apart(PALETTE[one], PALETTE[other], scheme) > 0.08
    assert apart(Colour("#bfe6c8", "#2f7d46"), Colour("#f3bdb2", "#a8402c"), "dark") < 0.08  # a green and a red
