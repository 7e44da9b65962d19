"""The CSV files of ``lnnkit run -o``: the file of one query, or a folder with a file for each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain, count
from pathlib import Path

from lnnkit.data.files import is_special
from lnnkit.output import require_apart, require_writable

_LONGEST = 60  # characters of a query in a file name
_CSV = ".csv"


def misused(form: str, output: str | None, queries: Sequence[str]) -> str | None:
    """Why ``-o`` does not fit the format and the queries, or CSV needs it; None if all is well."""
    if form != "csv":
        return None if output is None else "-o needs --format csv; write `> FILE` for other formats"
    if output is not None and not _is_file(output) and Path(output).is_file():
        return f"-o {output} is a file already; name a folder, or FILE{_CSV}"
    if len(queries) < 2 or (output is not None and not _is_file(output)):
        return None
    what = "--format csv prints" if output is None else f"{output} can hold"
    return f"{what} one query, of {len(queries)}; -o FOLDER writes a file for each, -q QUERY asks one"


def targets(output: str, queries: Sequence[str], read: Sequence[Path]) -> list[Path]:
    """The file of each query, in order; the folder is made if it is missing. Raises `Error` for a file that cannot be
    written, and for one that the program reads."""
    folder = Path(output)
    if _is_file(output):
        paths = [folder]
    else:
        require_writable(folder / "answers" if folder.is_dir() else folder)
        folder.mkdir(exist_ok=True)
        paths = [folder / f"{name}{_CSV}" for name in _names(queries)]
    for path in paths:
        require_writable(path)
        require_apart(path, read)
    return paths


def _is_file(output: str) -> bool:
    return (output.lower().endswith(_CSV) and not Path(output).is_dir()) or is_special(output)


def _names(queries: Iterable[str]) -> list[str]:
    """A name for each query, from its words; those that would be alike are numbered."""
    names: dict[str, str] = {}  # by what a file system that ignores case makes of them
    for query in queries:
        words = "-".join(re.findall(r"\w+", query))[:_LONGEST]
        numbered = (f"{words}-{number}" for number in count(2))
        name = next(name for name in chain([words], numbered) if name.casefold() not in names)
        names[name.casefold()] = name
    return list(names.values())
