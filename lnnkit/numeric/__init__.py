"""Arithmetic: comparisons and terms as neurons over intervals, and neural units as torch modules. Independent of the
graph. Start at `term`, whose `steps` compute with unions of intervals (`interval`).

`Term` is arithmetic over the numbers of an instance, `Comparison` a relation between two terms; both propagate upward
by interval arithmetic and downward by contraction, row by row, in float64. ``lnnkit.numeric.NAU(in_features,
out_features)`` and the other units are torch modules, imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from lnnkit.numeric.comparison import Comparison, informing
from lnnkit.numeric.crisp import Comparator, Fixed, Learned, Sign, relation
from lnnkit.numeric.interval import NO_VALUE, Contraction, Interval, point, rises, same, unknown
from lnnkit.numeric.step import Apply, Constant, FixedUnit, Input, Operation, Step
from lnnkit.numeric.term import Term, apply, constant, frozen, number, undetermined

if TYPE_CHECKING:
    from lnnkit.numeric.units.clipped_units import NAU, NMU, NPU, RealNPU
    from lnnkit.numeric.units.gated_units import INALU, NAC, NALU
    from lnnkit.numeric.units.nsr import NSR
    from lnnkit.numeric.units.unit import Hardening, Recurrent, Unit

__all__ = (
    "INALU", "NAC", "NALU", "NAU", "NMU", "NO_VALUE", "NPU", "NSR", "Apply", "Comparator", "Comparison", "Constant",
    "Contraction", "Fixed", "FixedUnit", "Hardening", "Input", "Interval", "Learned", "Operation",
    "RealNPU", "Recurrent", "Sign", "Step", "Term", "Unit", "apply", "constant", "frozen", "informing",
    "number", "point", "relation", "rises", "same", "undetermined", "unknown",
)  # fmt: skip
_UNITS = {
    "clipped_units": ("NAU", "NMU", "NPU", "RealNPU"), "gated_units": ("INALU", "NAC", "NALU"),
    "nsr": ("NSR",), "unit": ("Hardening", "Recurrent", "Unit"),
}  # fmt: skip


def __getattr__(name: str) -> object:
    for module, names in _UNITS.items():
        if name in names:
            return getattr(import_module(f"lnnkit.numeric.units.{module}"), name)
    raise AttributeError(f"module 'lnnkit.numeric' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
