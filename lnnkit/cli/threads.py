"""How many threads a command computes with."""

from __future__ import annotations

import gc


def use_threads(count: int) -> None:
    """Import torch, and let it compute with ``count`` threads. Without collections of its garbage, of which it has
    none, the import takes 0.15 CPU seconds less."""
    gc.disable()
    try:
        import torch

        gc.freeze()  # later collections need not look at what torch has made
    finally:
        gc.enable()
    torch.set_num_threads(count)
