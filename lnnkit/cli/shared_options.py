"""Options that several commands have: the same name, meaning and help in each."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from lnnkit.cli import option_values as values


def add_max_groundings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-groundings",
        type=values.count,
        metavar="N",
        help="refuse to make more than N instances of one rule or query (default: what half of the free memory holds)",
    )


def add_threads(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--threads", type=values.threads, default=1, metavar="N", help="threads to compute with (default: 1)"
    )


def add_output(parser: argparse.ArgumentParser, help: str = "write this .lnn file instead of printing") -> None:
    parser.add_argument("-o", "--output", metavar="OUT", help=help)
    parser.add_argument("--force", action="store_true", help="replace OUT if it exists")


def require_output(arguments: argparse.Namespace, read: Iterable[str | Path]) -> None:
    """Raises `Error` if OUT cannot be written, or is one of the files that are ``read``."""
    from lnnkit.output import require_apart, require_free

    if arguments.output is not None:
        require_free(arguments.output, force=arguments.force)
        require_apart(arguments.output, map(Path, read))


def add_quiet(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--quiet", action="store_true", help="show no progress; without a terminal there is none anyway"
    )


def add_queries(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-q",
        "--query",
        action="append",
        metavar="QUERY",
        help="answer this instead of the program's own queries; may be given several times",
    )


def add_alpha(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--alpha",
        type=values.alpha,
        default=1.0,
        metavar="A",
        help="a lower bound from A on counts as true, an upper bound up to 1 - A as false (default: 1)",
    )
