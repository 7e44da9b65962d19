"""Files that lnnkit writes: whole or not at all, and a finding where that fails."""

from __future__ import annotations

import os

from lnnkit.data.files import write_whole
from lnnkit.errors import Error
from lnnkit.syntax.diagnostic import Diagnostic


def write_text(path: str | os.PathLike[str], text: str | bytes) -> None:
    """Put ``text`` at ``path`` in one step; `Error` where it cannot be written."""
    try:
        write_whole(path, text)
    except (OSError, ValueError) as problem:  # ValueError: a null character in the path
        reason = (problem.strerror if isinstance(problem, OSError) else None) or str(problem)
        raise Error(
            [
                Diagnostic(
                    "unwritable-file",
                    f'"{os.fspath(path)}" cannot be written: {reason}',
                    "nothing was changed; name a file in a folder that can be written",
                )
            ]
        ) from None
