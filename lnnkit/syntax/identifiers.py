"""Names: their Unicode normal form, which of them are variables, and which words are reserved."""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args


def in_digits(value: float) -> str:
    """Whole numbers that floats hold exactly in full, other numbers to ten digits."""
    return str(int(value)) if abs(value) <= 2**53 and float(value).is_integer() else f"{value:.10g}"


KEYWORDS = (
    "logic", "sort", "predicate", "number", "date", "import", "load", "fact", "rule", "axiom", "query", "label",
    "lnnkit",
)  # fmt: skip
DECLARING = ("predicate", "number", "date")
COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
WORDS = frozenset(["and", "or", "xor", "not", "implies", "iff", "forall", "exists", "true", "false", "in", "inf"])
FUNCTIONS = {
    **{name: name for name in ("abs", "sqrt", "exp", "log", "sin", "cos", "floor", "ceil", "round")},
    "min": "least", "max": "greatest",
}  # fmt: skip
"""The functions of terms, with the names of their operations: `min` and `max` are those of aggregates."""
CALENDAR = ("years", "months")
"""Functions of two dates. They are more often names of numbers, which need no quotes."""
OPERATION_OF = {**FUNCTIONS, **{name: name for name in CALENDAR}}
TIMED = "timed_"  # begins the names of their operations where dates have a time of day
NAMEABLE = frozenset(("exp", "log", "sin", "cos", "floor", "ceil", "round", *CALENDAR))
"""Functions whose words may also be the names of predicates and numbers."""
FOREIGN_FUNCTIONS = {
    "ln": "write `log(a)`, which is the natural logarithm",
    "log10": "write `log(a) / log(10)`",
    "log2": "write `log(a) / log(2)`",
    **dict.fromkeys(("pow", "power"), "write `a ^ b`"),
    "square": "write `a ^ 2`",
    **dict.fromkeys(("fabs", "absolute"), "write `abs(a)`"),
    "ceiling": "write `ceil(a)`",
    **dict.fromkeys(("trunc", "int"), "write `floor(a)`, and `ceil(a)` for negative numbers"),
    "tan": "write `sin(a) / cos(a)`",
    "sinh": "write `(exp(a) - exp(-a)) / 2`",
    "cosh": "write `(exp(a) + exp(-a)) / 2`",
    "tanh": "write `1 - 2 / (exp(2 * a) + 1)`",
    **{
        f"a{name}": f"state it the other way round: `axiom {of} = a(X)`"
        for name, of in (("sin", "sin(angle(X))"), ("cos", "cos(angle(X))"), ("tan", "sin(angle(X)) / cos(angle(X))"))
    },
    "mod": "write `a - b * floor(a / b)`",
    "least": "write `min(a, b)`",
    "greatest": "write `max(a, b)`",
    **dict.fromkeys(("avg", "average", "mean"), "write `(a + b) / 2`"),
    "sum": "write `a + b`",
}
"""Functions of other languages, and their equivalents."""
FOREIGN_DATES = {
    "year": 'compare dates: `date "2024-01-01" <= born(X) < date "2025-01-01"`; `years(born(X), today)` is the age',
    **dict.fromkeys(
        ("days", "datediff", "date_diff", "days_between"), "subtract dates, `until(X) - since(X)`: that is in days"
    ),
    "age": "completed years are `years(born(X), today)`",
    **dict.fromkeys(("dateadd", "date_add", "adddate"), "add days: `since(X) + 30 days`"),
}
"""The same of dates; a number may well have one of these names."""
FUNCTIONS_LISTED = "there are " + ", ".join(f"`{name}`" for name in FUNCTIONS)
TEXT_FUNCTIONS = re.findall(
    r"\w+",
    "startswith endswith contains includes like ilike match matches regex regexp rlike glob len length strlen lower"
    " upper tolower toupper lowercase uppercase substr substring concat cat trim strip",
)
TEXTS_UNSEARCHED = (
    'texts are not searched: list the entities that match in a table, in pandas `df[df["name"].str.startswith("x")]'
    '.to_csv("matching.csv", index=False)`, and write `load Matching from "matching.csv" (name)`'
)
UNITS = frozenset(["nac", "nalu", "inalu", "nau", "nmu", "npu", "realnpu"])
AggregateName = Literal["count", "sum", "mean", "min", "max"]
AGGREGATES = frozenset(get_args(AggregateName))
NULLS = ("nan", "null", "none", "na")  # names of the unknown value in other languages
AGGREGATING = AGGREGATES | {"avg", "average", "median", "group", "groupby"}
AGGREGATE_HINT = (
    "write `(count Y: Owns(X, Y)) > 3` or `(sum Y: amount(Y) where Owns(X, Y)) > 100`, likewise `mean`, `min` and "
    "`max`: all Y are taken together, for each X, and beside an operator an aggregate is in parentheses"
)
SHOUTED = frozenset(["AND", "OR", "NOT", "XOR", "IF", "THEN", "IMPLIES", "IFF", "FORALL", "EXISTS", "TRUE", "FALSE"])

_NAME = re.compile(r"[^\W\d_]\w*(?:-\w+)*")
_ENTITY = re.compile(r"-?[^\W_](?:[\w.:-]*\w)?\+*")
_STRANGE = re.compile(r"[^\w\s\x00-\x7f]")


def is_text_function(name: str) -> bool:
    """Whether a name is that of a function on texts in other languages, which no predicate has by convention."""
    return name[:1].islower() and name.lower().replace("_", "").replace("-", "") in TEXT_FUNCTIONS


def normalise(text: str) -> str:
    """The NFC form, in which names and entities are compared."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def shadow(text: str) -> str:
    r"""``text`` with each combining mark replaced by ``_``, character for character.

    The lexer reads the shadow, and the tokens of the tree take their text from the original: ``\w`` in Python lacks the
    combining marks that a name may contain, and listing them in the grammar would make it unreadable and slow.
    """
    return text if text.isascii() else _STRANGE.sub(_unmarked, text)


def _unmarked(match: re.Match[str]) -> str:
    return "_" if unicodedata.category(match[0]).startswith("M") else match[0]


def is_name(text: str) -> bool:
    """Whether ``text`` is a name without quotes (a letter, then word characters and inner hyphens)."""
    return text not in WORDS and _NAME.fullmatch(shadow(text)) is not None


def is_bare_entity(text: str) -> bool:
    """Whether ``text`` can be an argument of an atom without quotes."""
    return _ENTITY.fullmatch(shadow(text)) is not None


def starts_upper(text: str) -> bool:
    """Whether the first letter is upper-case or title-case, as in variables."""
    return unicodedata.category(text[0]) in ("Lu", "Lt")


def unglued(variable: str, arguments: list[str]) -> tuple[str, str] | None:
    """The variable and the predicate that are run together in `∀xP(x)`, if the arguments or the letters show where to
    split."""
    first = next((name for name in arguments if name and variable != name and variable.startswith(name)), None)
    if first is not None:
        return first, variable[len(first) :]
    match = re.fullmatch(r"([^\W\d_]\d*)([^\W\d_]\w*)", variable)
    return (match[1], match[2]) if match and starts_upper(match[2]) else None
