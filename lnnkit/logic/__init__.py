"""The truth algebras: pure functions over arrays of bounds, one file for each logic, independent of the graph.

`Logic` is the interface, `logic_named` finds a logic by its name in programs. Quantifiers are the same in every logic.
"""

from __future__ import annotations

from lnnkit.logic.bounds import Bounds as Bounds
from lnnkit.logic.bounds import Inverse as Inverse
from lnnkit.logic.bounds import complement as complement
from lnnkit.logic.bounds import enter as enter
from lnnkit.logic.bounds import tolerance as tolerance
from lnnkit.logic.goedel import Goedel as Goedel
from lnnkit.logic.logic import Logic as Logic
from lnnkit.logic.logic import Weight as Weight
from lnnkit.logic.logic import truth_at as truth_at
from lnnkit.logic.lukasiewicz import Lukasiewicz as Lukasiewicz
from lnnkit.logic.product import Product as Product
from lnnkit.logic.quantifier import exists as exists
from lnnkit.logic.quantifier import exists_inverse as exists_inverse
from lnnkit.logic.quantifier import forall as forall
from lnnkit.logic.quantifier import forall_inverse as forall_inverse

LOGICS: tuple[Logic, ...] = (Lukasiewicz(), Product(), Goedel())


def logic_named(name: str) -> Logic:
    """The logic with this name in programs. Raises `KeyError`."""
    return {logic.name: logic for logic in LOGICS}[name]
