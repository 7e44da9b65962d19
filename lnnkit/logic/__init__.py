"""The truth algebras: pure functions over arrays of bounds, one file for each logic, independent of the graph.

`Logic` is the interface, `logic_named` finds a logic by its name in programs. Quantifiers are the same in every logic.
"""

from __future__ import annotations

from lnnkit.logic.bounds import Bounds, Inverse, complement, enter, tolerance
from lnnkit.logic.goedel import Goedel
from lnnkit.logic.logic import Logic, Weight, truth_at
from lnnkit.logic.lukasiewicz import Lukasiewicz
from lnnkit.logic.product import Product
from lnnkit.logic.quantifier import exists, exists_inverse, forall, forall_inverse

__all__ = (
    "LOGICS", "Bounds", "Goedel", "Inverse", "Logic", "Lukasiewicz", "Product", "Weight", "complement", "enter",
    "exists", "exists_inverse", "forall", "forall_inverse", "logic_named", "tolerance", "truth_at",
)  # fmt: skip

LOGICS: tuple[Logic, ...] = (Lukasiewicz(), Product(), Goedel())


def logic_named(name: str) -> Logic:
    """The logic with this name in programs. Raises `KeyError`."""
    return {logic.name: logic for logic in LOGICS}[name]
