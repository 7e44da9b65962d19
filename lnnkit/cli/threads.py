"""The number of threads that a command uses."""

from __future__ import annotations

import os
import sys


def use_threads(count: int) -> None:
    """Let torch use ``count`` threads. It reads the number when it is imported, which only training and devices do."""
    os.environ["OMP_NUM_THREADS"] = str(count)
    if "torch" in sys.modules:
        import torch

        torch.set_num_threads(count)
