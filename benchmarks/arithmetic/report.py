"""Rows as text."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.arithmetic.outcome import Row

COLUMNS = ("op", "setting", "model", "seeds", "success", "published", "steps", "samples", "error", "sparsity", "CPU s")


def table(rows: Sequence[Row]) -> str:
    """One line a row under a head; the scores of the task at its end."""
    lines = [[*COLUMNS, ""], *([*_cells(row), _scores(row)] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(COLUMNS) + 1)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _cells(row: Row) -> list[str]:
    low, high = row.interval
    return [
        row.cell.op,
        row.cell.setting,
        row.cell.model + (" (cut short)" if row.cut_short else ""),
        str(row.seeds),
        f"{100 * row.success:.0f} % [{100 * low:.0f}, {100 * high:.0f}]",
        row.cell.published or "-",
        " / ".join(map(_number, row.steps)),
        " / ".join(map(_number, row.samples)),
        _number(row.error),
        _number(row.sparsity),
        _number(row.cpu_seconds),
    ]


def _scores(row: Row) -> str:
    return " ".join(f"{name}={_number(value)}" for name, value in row.scores.items())


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
