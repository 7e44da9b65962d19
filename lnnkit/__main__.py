"""``python -m lnnkit``: the same command as ``lnnkit``."""

from __future__ import annotations

from lnnkit.cli import script

if __name__ == "__main__":
    script()
