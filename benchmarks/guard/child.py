"""One program of the guard in this process: ``python -P -m benchmarks.guard.child PROGRAM SIZE FOLDER RESULT TREE``.

Writes what it measured as JSON; what lnnkit refuses, with its message. Without ``RESULT`` and ``TREE`` the data are
made.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.guard.measured import peak


def main(arguments: list[str]) -> int:
    name, size, folder = arguments[0], int(arguments[1]), Path(arguments[2])
    from benchmarks.guard.programs import PROGRAMS

    program = PROGRAMS[name]
    if len(arguments) == 3:
        program.make(size, folder)
        return 0
    result, tree = Path(arguments[3]), Path(arguments[4])
    try:
        measured = program.run(size, folder)
    except Exception as error:
        if "lnnkit" not in sys.modules or not isinstance(error, sys.modules["lnnkit"].Error):
            raise
        result.write_text(json.dumps({"refused": " ".join(str(error).split())[:200]}), encoding="utf-8")
        return 0
    imported = sys.modules.get("lnnkit")
    if imported is not None and not Path(str(imported.__file__)).is_relative_to(tree):
        raise SystemExit(f"{imported.__file__} was imported, not that of {tree}")
    measured.peak = measured.peak or peak()
    result.write_text(measured.to_json(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
