"""What to do where an optional library is not installed."""

from __future__ import annotations

from lnnkit.errors import Error
from lnnkit.syntax.diagnostic import Diagnostic


def missing_extra(what: str, library: str) -> Error:
    """The error for ``what``, which needs a library of the extra ``report``."""
    hint = "install it with `pip install 'lnnkit[report]'`"
    return Error([Diagnostic("missing-extra", f"{what} needs {library}, which is not installed", hint)])
