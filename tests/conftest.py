"""What all tests share."""

from __future__ import annotations

import os

# Before torch is imported: small tensors on several threads are slower than on one, and test runs share their machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")
