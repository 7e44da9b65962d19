"""What all tests share."""

from __future__ import annotations

import gc
import os

from hypothesis import settings

# Before torch is imported: small tensors on several threads are slower than on one, and test runs share their machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Seeds are fixed: a run draws the same examples as the last one, so that a failure is the change's, not the day's.
settings.register_profile("fixed", derandomize=True, deadline=None)  # a busy machine is no fault
settings.load_profile("fixed")

# The collector looks at all modules and tests again and again: by default that is 6 of 100 CPU seconds.
gc.set_threshold(50_000, 20, 50)
