"""Arithmetic: comparisons and terms as neurons over intervals, and neural units as torch modules. Independent of the
graph. Start at `term`, whose `steps` compute with the `pieces` of intervals.

`Term` is arithmetic over the numbers of an instance, `Comparison` a relation between two terms; both propagate upward
by interval arithmetic and downward by contraction, row by row, in float64. ``lnnkit.numeric.NAU(in_features,
out_features)`` and the other units are torch modules, imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lnnkit.numeric.comparator import Comparator, Fixed, Learned, Sign, relation
from lnnkit.numeric.comparison import Comparison
from lnnkit.numeric.fixed_units.frozen import frozen
from lnnkit.numeric.informing import informing
from lnnkit.numeric.interval import Contraction, Interval, point, rises, same, unknown
from lnnkit.numeric.step import Apply, Constant, FixedUnit, Number, Operation, Step
from lnnkit.numeric.term import Term, apply, constant, number, undetermined

if TYPE_CHECKING:
    from lnnkit.numeric.units.clipped_units import NAU, NMU
    from lnnkit.numeric.units.gated_units import INALU, NAC, NALU
    from lnnkit.numeric.units.npu import NPU, NaiveNPU, RealNPU
    from lnnkit.numeric.units.nsr import NSR
    from lnnkit.numeric.units.readout import Readout
    from lnnkit.numeric.units.unit import Hardening, Recurrent, Unit

__all__ = (
    "INALU", "NAC", "NALU", "NAU", "NMU", "NPU", "NSR", "Apply", "Comparator", "Comparison", "Constant", "Contraction",
    "Fixed", "FixedUnit", "Hardening", "Interval", "Learned", "NaiveNPU", "Number", "Operation", "Readout", "RealNPU",
    "Recurrent", "Sign", "Step", "Term", "Unit", "apply", "constant", "frozen", "informing", "number", "point",
    "relation", "rises", "same", "undetermined", "unknown",
)  # fmt: skip
_HOMES = {
    "INALU": "gated_units", "NAC": "gated_units", "NALU": "gated_units", "NAU": "clipped_units",
    "NMU": "clipped_units", "NPU": "npu", "NaiveNPU": "npu", "RealNPU": "npu", "NSR": "nsr", "Readout": "readout",
    "Recurrent": "unit", "Hardening": "unit", "Unit": "unit",
}  # fmt: skip


def __getattr__(name: str) -> object:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"lnnkit.numeric.units.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'lnnkit.numeric' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
