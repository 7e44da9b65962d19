"""The files of ``lnnkit run --format csv -o FOLDER``: one for each query."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path

from lnnkit.cli.streams import UsageError
from lnnkit.output import require_apart, require_writable

_LONGEST = 60  # characters of a query in a file name


def require_fitting(form: str, folder: str | None, queries: Sequence[str]) -> None:
    """Raises `UsageError` if the options do not fit the queries."""
    if folder is None and form == "csv" and len(queries) > 1:
        said = f"--format csv prints one query, of {len(queries)}; -o FOLDER writes a file for each, -q QUERY asks one"
        raise UsageError(said)
    if folder is not None and form != "csv":
        raise UsageError("-o needs --format csv; write `> FILE` for other formats")
    if folder is not None and (Path(folder).suffix == ".csv" or Path(folder).is_file()):
        raise UsageError(f"-o {folder}: name a folder; for one query, `> {folder}`")


def targets(folder: Path, queries: Sequence[str], read: Sequence[Path]) -> list[Path]:
    """The file of each query, in order, named after its words, and numbered where two names would be alike; the folder
    is made if it is missing. Raises `Error` for a file that cannot be written, and for one that the program reads."""
    require_writable(folder / "answers" if folder.is_dir() else folder)
    folder.mkdir(exist_ok=True)
    names: dict[str, Path] = {}  # by what a file system that ignores case makes of them
    for query in queries:
        words = "-".join(re.findall(r"\w+", query))[:_LONGEST]
        name = next(each for each in chain([words], (f"{words}-{n}" for n in count(2))) if each.casefold() not in names)
        names[name.casefold()] = folder / f"{name}.csv"
    for path in names.values():
        require_writable(path)
        require_apart(path, read)
    return list(names.values())
