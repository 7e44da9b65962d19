"""Neural arithmetic: one file a unit, torch modules that stand alone. Knows no graph.

``lnnkit.numeric.NAU(in_features, out_features)`` and its kin; torch is imported when the first of them is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lnnkit.numeric.inalu import INALU as INALU
    from lnnkit.numeric.nac import NAC as NAC
    from lnnkit.numeric.nalu import NALU as NALU
    from lnnkit.numeric.nau import NAU as NAU
    from lnnkit.numeric.nmu import NMU as NMU
    from lnnkit.numeric.npu import NPU as NPU
    from lnnkit.numeric.npu import NaiveNPU as NaiveNPU
    from lnnkit.numeric.npu import RealNPU as RealNPU
    from lnnkit.numeric.nsr import NSR as NSR
    from lnnkit.numeric.readout import Readout as Readout
    from lnnkit.numeric.unit import Hardening as Hardening
    from lnnkit.numeric.unit import Unit as Unit

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
    "Hardening": "unit",
    "Unit": "unit",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"lnnkit.numeric.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'lnnkit.numeric' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
