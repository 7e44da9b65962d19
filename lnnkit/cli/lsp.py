"""``lnnkit lsp``: the language server, which editors start."""

from __future__ import annotations

import argparse

from lnnkit.cli.command_parser import CommandParser
from lnnkit.errors import Error
from lnnkit.syntax.diagnostic import Diagnostic

SUMMARY = "serve editors: diagnostics, hover, rename, ... (needs the extra `lsp`)"
DESCRIPTION = """\
Speaks the Language Server Protocol on standard input and output, for an editor that starts it: diagnostics as
you type, hover with truth bounds, go to definition, references, rename, formatting, outline and completion."""
EXAMPLE = """\
example:
  lnnkit lsp    the command to give to the editor; run by hand, it waits for messages
"""
INSTALL = 'pip install "pygls>=2"'


def options(parser: CommandParser) -> None:
    parser.flag("--stdio", "standard input and output: the only way, and the default")


def command(arguments: argparse.Namespace) -> int:
    try:
        from lnnkit.language_server.server import serve
    except ImportError as problem:
        if (problem.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        message = "the language server needs the package pygls, version 2 or later, which is not installed"
        raise Error([Diagnostic("missing-package", message, f"install it with: {INSTALL}")]) from None
    serve()
    return 0
