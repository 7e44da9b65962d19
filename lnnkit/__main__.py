"""``python -m lnnkit``: the same command as ``lnnkit``."""

from __future__ import annotations

import sys

from lnnkit.cli import main

if __name__ == "__main__":
    sys.exit(main())
