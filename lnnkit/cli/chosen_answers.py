"""Selects and orders the answers of a query that are shown: ``--only``, ``--sort``, ``--reverse`` and ``--limit``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lnnkit.answer_table import STATES
from lnnkit.cli.streams import UsageError
from lnnkit.data.column import EntityColumn
from lnnkit.data.numerals import whole

if TYPE_CHECKING:
    import numpy as np

    from lnnkit.answer_table import Answers

BOUNDS = ("lower", "upper")
_DIGITS = re.compile(r"([0-9]+)")


@dataclass(frozen=True, slots=True)
class Shown:
    """The ``answers`` that are shown; ``more`` is how many of the same states the limit hides, ``total`` how many there
    are of any state, ``false`` how many are left out because the query is a comparison that they fail."""

    answers: Answers
    more: int
    total: int
    false: int = 0


def chosen(
    answers: Answers,
    limit: int = 0,
    *,
    only: Collection[str] = (),
    sort: str | None = None,
    reverse: bool = False,
    filters: bool = False,
) -> Shown:
    """The answers to show: of the states ``only`` (empty: all), ``limit`` rows at most (0: all). ``sort`` is lower or
    upper, from the greatest down, or a variable, names ascending; equal answers keep their order. With ``filters``, a
    crisp comparison shows what it keeps: false answers are counted."""
    import numpy as np

    total, false = len(answers), 0
    if filters and not only and answers.variables and _is_filter(answers.query):
        kept = np.flatnonzero(answers.states != STATES.index("false"))
        answers, false = answers.at(kept), total - len(kept)
    elif only:
        wanted = [STATES.index(state) for state in STATES if state in only]
        answers = answers.at(np.isin(answers.states, wanted))
    order = _order(answers, sort)
    if order is not None:
        answers = answers.at(np.argsort(-order if reverse else order, kind="stable"))
    elif reverse:
        answers = answers[::-1]
    shown = len(answers) if limit == 0 else min(limit, len(answers))
    return Shown(answers[:shown], len(answers) - shown, total, false)


def require_sortable(sort: str, queries: Iterable[str]) -> None:
    """Raises `UsageError` if ``--sort`` does not fit these queries."""
    from lnnkit.check.walk import free_variables, visits
    from lnnkit.syntax.parse import parse_expression

    if sort in BOUNDS:
        return
    written = [root for root, _ in map(parse_expression, queries) if root is not None]
    known = list(dict.fromkeys(name for root in written for name in free_variables(visits(root))))
    if not known:
        raise UsageError(f"--sort {sort}: no query has a variable; sort by lower or upper")
    if sort not in known:
        raise UsageError(f"--sort {sort}: no query has that variable; sort by {', '.join((*BOUNDS, *known))}")


def _is_filter(query: str) -> bool:
    """Whether a query is made of crisp comparisons alone, as `18 <= age(X) < 65` or `~(age(X) < 18)`."""
    from lnnkit.syntax import ast
    from lnnkit.syntax.parse import parse_expression

    written, _ = parse_expression(query)
    left = [] if written is None else [written]
    while left:
        match left.pop():
            case ast.And(operands, ()) | ast.Or(operands, ()):
                left += operands
            case ast.Not(operand):
                left.append(operand)
            case ast.Comparison(_, operators, ()) if "<?>" not in operators:
                pass
            case _:
                return False
    return written is not None


def _order(answers: Answers, sort: str | None) -> np.ndarray | None:
    """A sort key for each row; None to keep the order."""
    if sort in BOUNDS:
        return -(answers.lower if sort == "lower" else answers.upper)
    if sort not in answers.variables:
        return None
    return _ranks(answers.columns[answers.variables.index(sort)])


def _ranks(column: EntityColumn) -> np.ndarray:
    """The rank of each row's name: whole numbers by value, then texts, in which numbers compare by value too."""
    import numpy as np

    names, codes = column.distinct()
    numbers = sum(whole(name) is not None for name in names)  # they come first, in order
    texts = sorted(range(numbers, len(names)), key=lambda place: _natural(names[place]))
    ranks = np.empty(len(names), np.int64)
    ranks[[*range(numbers), *texts]] = np.arange(len(names))
    return ranks[codes]


def _natural(name: str) -> tuple[list[tuple[str, tuple[int, str]]], str]:
    """A sort key that puts ``c2`` before ``c10``: the texts between the numbers, and each number by its length and
    digits."""
    parts = _DIGITS.split(name)
    numbers = [part.lstrip("0") for part in parts[1::2]]
    return list(zip(parts[::2], [*((len(each), each) for each in numbers), (-1, "")], strict=True)), name
