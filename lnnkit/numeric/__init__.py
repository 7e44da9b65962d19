"""Arithmetic: comparisons and terms as neurons over intervals, and neural units as torch modules. Independent of the
graph.

`Term` is arithmetic over the numbers of an instance, `Comparison` a relation between two terms; both propagate upward
by interval arithmetic and downward by contraction, row by row, in float64. ``lnnkit.numeric.NAU(in_features,
out_features)`` and the other units are torch modules, one file each, imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lnnkit.numeric.comparison import Comparison as Comparison
from lnnkit.numeric.comparison import Response as Response
from lnnkit.numeric.fixed_unit import FixedUnit as FixedUnit
from lnnkit.numeric.frozen import frozen as frozen
from lnnkit.numeric.frozen import gated_product as gated_product
from lnnkit.numeric.frozen import gated_sum as gated_sum
from lnnkit.numeric.frozen import linear as linear
from lnnkit.numeric.frozen import power_product as power_product
from lnnkit.numeric.frozen import signed_gated_sum as signed_gated_sum
from lnnkit.numeric.informing import informing as informing
from lnnkit.numeric.interval import Contraction as Contraction
from lnnkit.numeric.interval import Interval as Interval
from lnnkit.numeric.interval import point as point
from lnnkit.numeric.interval import rises as rises
from lnnkit.numeric.interval import same as same
from lnnkit.numeric.interval import unknown as unknown
from lnnkit.numeric.relation import Fixed as Fixed
from lnnkit.numeric.relation import Learned as Learned
from lnnkit.numeric.relation import Relation as Relation
from lnnkit.numeric.relation import Sign as Sign
from lnnkit.numeric.relation import relation as relation
from lnnkit.numeric.step import Apply as Apply
from lnnkit.numeric.step import Constant as Constant
from lnnkit.numeric.step import Number as Number
from lnnkit.numeric.step import Operation as Operation
from lnnkit.numeric.step import Step as Step
from lnnkit.numeric.term import Term as Term
from lnnkit.numeric.term import apply as apply
from lnnkit.numeric.term import constant as constant
from lnnkit.numeric.term import number as number
from lnnkit.numeric.term import undetermined as undetermined

if TYPE_CHECKING:
    from lnnkit.numeric.units.inalu import INALU as INALU
    from lnnkit.numeric.units.nac import NAC as NAC
    from lnnkit.numeric.units.nalu import NALU as NALU
    from lnnkit.numeric.units.nau import NAU as NAU
    from lnnkit.numeric.units.nmu import NMU as NMU
    from lnnkit.numeric.units.npu import NPU as NPU
    from lnnkit.numeric.units.npu import NaiveNPU as NaiveNPU
    from lnnkit.numeric.units.npu import RealNPU as RealNPU
    from lnnkit.numeric.units.nsr import NSR as NSR
    from lnnkit.numeric.units.readout import Readout as Readout
    from lnnkit.numeric.units.recurrence import Recurrent as Recurrent
    from lnnkit.numeric.units.unit import Hardening as Hardening
    from lnnkit.numeric.units.unit import Unit as Unit

_HOMES = {
    "INALU": "inalu",
    "NAC": "nac",
    "NALU": "nalu",
    "NAU": "nau",
    "NMU": "nmu",
    "NPU": "npu",
    "NaiveNPU": "npu",
    "RealNPU": "npu",
    "NSR": "nsr",
    "Readout": "readout",
    "Recurrent": "recurrence",
    "Hardening": "unit",
    "Unit": "unit",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"lnnkit.numeric.units.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'lnnkit.numeric' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
