"""Writes files atomically; failures raise an error with a finding."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from lnnkit.data.files import is_special, write_whole
from lnnkit.errors import Error
from lnnkit.syntax.diagnostic import Diagnostic


def write_text(path: str | os.PathLike[str], text: str | bytes) -> None:
    """Write ``text`` to ``path`` atomically; raises `Error` if it cannot be written."""
    try:
        write_whole(path, text)
    except (OSError, ValueError) as problem:  # ValueError: a null character in the path
        reason = (problem.strerror if isinstance(problem, OSError) else None) or str(problem)
        raise _unwritable(path, reason) from None


def require_free(path: str | os.PathLike[str], *, force: bool) -> None:
    """Raises `Error` if a file exists under ``path``, unless it is to be replaced by ``force``, or if none can be
    written there."""
    if Path(path).exists() and not force:
        message = f'"{path}" exists already'
        raise Error([Diagnostic("file-exists", message, "name another file, or replace it with --force")])
    require_writable(path)


def require_writable(path: str | os.PathLike[str]) -> None:
    """Raises `Error` if a file at ``path`` could not be written."""
    target = Path(path if is_special(path) else os.path.realpath(path))
    if target.is_dir():
        raise _unwritable(path, "it is a folder")
    if not target.parent.is_dir():
        raise _unwritable(path, "there is no such folder")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise _unwritable(path, "it is write-protected")


def require_apart(path: str | os.PathLike[str], files: Iterable[Path]) -> None:
    """Raises `Error` if ``path`` is one of the ``files`` that are read."""
    try:
        place = Path(path).resolve()
    except ValueError:  # a null character in the path: nothing is there
        return
    if place in {file.resolve() for file in files}:
        message = f'"{os.fspath(path)}" is read by the program, and would be lost'
        raise Error([Diagnostic("overwritten-source", message, "nothing was changed; name another file")])


def _unwritable(path: str | os.PathLike[str], reason: str) -> Error:
    message = f'"{os.fspath(path)}" cannot be written: {reason}'
    hint = "nothing was changed; name a file in a folder that can be written"
    return Error([Diagnostic("unwritable-file", message, hint)])
