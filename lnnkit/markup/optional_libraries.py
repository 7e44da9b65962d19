"""Libraries that only extras install."""

from __future__ import annotations

import importlib.util

from lnnkit.errors import Error
from lnnkit.syntax.diagnostic import Diagnostic


def installed(library: str) -> bool:
    """Whether it can be imported."""
    return importlib.util.find_spec(library) is not None


def require(what: str, *libraries: str) -> None:
    """Raises `Error` where a library of the extra ``lnnkit[report]`` that ``what`` needs is not installed."""
    missing = [library for library in libraries if not installed(library)]
    if missing:
        message = f"{what} needs {' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed"
        raise Error([Diagnostic("missing-extra", message, "install it with `pip install 'lnnkit[report]'`")])
