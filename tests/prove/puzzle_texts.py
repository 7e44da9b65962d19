"""What the sentences of LogicalDeduction and ProntoQA say, read by patterns, and where a program says something else.

The programs are a language model's. Nothing here knows lnnkit."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ORDINALS = ("", "", "second", "third", "fourth", "fifth", "sixth", "seventh")
# Words for the first place, and for the last; a comparison says which is lower.
_ENDS = (
    (("leftmost", "from the left"), ("rightmost", "from the right")),
    (("oldest",), ("newest",)),
    (("first", "highest"), ("last", "lowest")),
    (("cheapest", "least expensive"), ("most expensive",)),
)
_LOWER = ("to the left of", "older than", "finished above", "less expensive than", "cheaper than")
_HIGHER = ("to the right of", "newer than", "finished below", "more expensive than")
Said = tuple[str, str, str]  # a name, a sign, and a name or a place


def wrong_lines(text: str) -> list[str]:
    """The lines of a program of LogicalDeduction that do not say what the sentence behind them does."""
    domain, body = text.split("Variables:")
    low = domain.split("1:")[1].splitlines()[0].strip()
    names = re.findall(r"^(\w+) \[IN\]", body, re.MULTILINE)
    upside_down = any(low in last for _, last in _ENDS)
    found = []
    for line in body.splitlines():
        formula, _, sentence = (part.strip() for part in line.partition(":::"))
        if not sentence or formula.startswith("AllDifferent"):
            continue
        meant = _meant(sentence, names, upside_down=upside_down)
        if meant is not None and tuple(re.sub(r"^[A-G]\) ", "", formula).split()) not in _alike(meant):
            found.append(line.strip())
    return found


def _meant(sentence: str, names: list[str], *, upside_down: bool) -> Said | None:
    text = sentence.lower().rstrip(".")
    place = {name: text.find(name.lower().replace("_", " ")) for name in names}
    met = sorted((name for name in names if place[name] >= 0), key=lambda name: place[name])
    for signs, words in ((("<", ">"), _LOWER), ((">", "<"), _HIGHER)):
        if len(met) == 2 and any(word in text for word in words):
            return met[0], signs[upside_down], met[1]
    return None if len(met) != 1 else _at_place(met[0], text, len(names), upside_down=upside_down)


def _at_place(name: str, text: str, count: int, *, upside_down: bool) -> Said | None:
    ordinal = next((n for n, word in enumerate(_ORDINALS) if word and re.search(rf"\b{word}\b", text)), 0)
    from_low: bool | None = None
    if "finished" in text:
        from_low = "last" not in text
        ordinal = ordinal or 1
    for low, high in _ENDS:
        for words, is_low in ((low, True), (high, False)):
            if from_low is None and any(word in text for word in words):
                from_low, ordinal = is_low, ordinal or 1
    if from_low is None:
        return None
    return name, "==", str(ordinal if from_low != upside_down else count + 1 - ordinal)


def _alike(said: Said) -> Iterator[tuple[str, ...]]:
    one, sign, other = said
    yield said
    if sign != "==":
        yield other, {"<": ">", ">": "<"}[sign], one


# --- ProntoQA ---------------------------------------------------------------------------------------------------------


def in_singular(text: str) -> str:
    """A program of ProntoQA with one name for each kind: `Impuses` and `Impus` are one."""
    return re.sub(r"\b(\w+us)es\(", r"\1(", text)


def asks_the_opposite(question: str, text: str) -> bool:
    """Whether the query of a program of ProntoQA is the negation of what the question asks."""
    query = [line for line in text.splitlines() if line.strip()][-1]
    return (" not " in question.split("false?")[1]) != ("False)" in query)
