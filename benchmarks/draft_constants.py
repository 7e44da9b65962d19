"""How far the constants of ``lnnkit.draft`` can move before a draft changes: ``python -m benchmarks.draft_constants``.

Every table of ``$LNNKIT_DATA`` and of ``kb_examples`` is drafted by itself, with each constant at several values.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

from lnnkit.draft import drafting
from lnnkit.draft import survey as surveying
from lnnkit.draft.drafting import draft
from lnnkit.draft.survey import Survey, survey

ROOT = Path(__file__).parents[1]
CONSTANTS = {
    (drafting, "_MOST"): (1, 2, 3, 4, 6, 8, 12, 24, 48),
    (drafting, "CATEGORIES"): (2, 5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 200, 500),
    (drafting, "_FEW"): (10, 25, 50, 100, 150, 200, 250, 300, 400, 600, 1000),
    (surveying, "_SAMPLE"): (1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20),
    (surveying, "_ROWS"): (2, 5, 10, 25, 50, 100, 200, 400),
}


def tables() -> Iterator[Path]:
    """The files to draft programs for."""
    for folder in (Path(os.environ.get("LNNKIT_DATA", ROOT.parent / "shared" / "data")), ROOT / "kb_examples"):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".csv", ".tsv", ".parquet"):
                yield path


def surveys(paths: Sequence[Path]) -> list[Survey]:
    return [survey(path) for path in paths]


def drafts(tables: Sequence[Survey]) -> list[str]:
    return [draft([table], [table.path.name]) for table in tables]


def main() -> None:
    paths = list(tables())
    surveyed = surveys(paths)
    before = drafts(surveyed)
    print(f"{len(paths)} tables")
    for (module, name), values in CONSTANTS.items():
        counts = []
        for value in values:
            with mock.patch.object(module, name, value):
                after = drafts(surveys(paths) if module is surveying else surveyed)
                counts.append(sum(new != old for new, old in zip(after, before, strict=True)))
        same = [value for value, count in zip(values, counts, strict=True) if not count]
        print(
            f"{module.__name__}.{name} = {getattr(module, name)}: all drafts are the same from {same[0]} to {same[-1]};"
        )
        print("   changed: " + ", ".join(f"{value}: {count}" for value, count in zip(values, counts, strict=True)))


if __name__ == "__main__":
    main()
