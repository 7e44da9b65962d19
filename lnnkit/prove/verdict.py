"""The answer to a question: a verdict with its core, or with worlds as counterexamples; as data, text and HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NoReturn

from markupsafe import Markup

from lnnkit.answer_table import finite, format_bounds
from lnnkit.markup.pages import Table, document, tables
from lnnkit.syntax.identifiers import in_digits

Verdict = Literal["entailed", "refuted", "neither", "inconsistent", "timeout"]
Reading = Literal["classical", "exact"]
_ROWS = 30  # atoms of a model that are listed
_BECAUSE = {
    "entailed": "it follows from",
    "refuted": "its negation follows from",
    "inconsistent": "these cannot all hold",
}


@dataclass(frozen=True, slots=True)
class CoreMember:
    """A fact, a statement or a declaration on which a verdict depends, with its file and its line or row."""

    text: str
    file: str
    line: int

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit prove --format json`` prints."""
        return {"text": self.text, "file": self.file, "line": self.line}

    def __str__(self) -> str:
        return f"{self.text}   {self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Core:
    """The ``members`` of a core; ``minimal`` if none can be left out, not ``whole`` if facts were not looked for."""

    members: tuple[CoreMember, ...]
    minimal: bool
    whole: bool = True

    def shown_by(self, answer: Proved) -> Proved:
        """An answer with this core, and remarks on it."""
        late = "time ran out: the list may lack facts, and may not be minimal"
        notes = [] if self.minimal else ["the list may not be minimal" if self.whole else late]
        return replace(answer, core=self.members, minimal=self.minimal, notes=(*answer.notes, *notes))


@dataclass(frozen=True, slots=True)
class ShownWorld:
    """A world that the program allows: the truths of ``atoms`` and the values of ``numbers``, by their texts; dates are
    texts. ``truth`` is the truth of the question there."""

    truth: float
    atoms: Sequence[tuple[str, float]]
    numbers: Sequence[tuple[str, float | str]]

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit prove --format json`` prints."""
        return {"truth": self.truth, "atoms": dict(self.atoms), "numbers": dict(self.numbers)}


@dataclass(frozen=True, repr=False)
class Proved:
    """The answer to a question. It prints as text; ``as_dict`` is for JSON.

    ``lower`` and ``upper`` are the tightest bounds of the exact reading, rounded outward; None in the classical one.
    ``core`` suffices for a verdict of entailed, refuted or inconsistent; if ``minimal``, no member can be left out.
    There are at most two ``models``: in one the question is true (or as true as possible), in the other it is false.
    ``notes`` are remarks about the answer.
    """

    formula: str
    reading: Reading
    verdict: Verdict
    lower: float | None = None
    upper: float | None = None
    core: Sequence[CoreMember] = ()
    models: Sequence[ShownWorld] = ()
    notes: Sequence[str] = ()
    alpha: float = 1.0
    minimal: bool = True
    settled: bool = True  # whether both ends, or the verdict, were decided in time
    interrupted: bool = False
    translated: int = field(default=0, compare=False)  # instances of statements that went to the solver

    def __bool__(self) -> NoReturn:
        """Raises ``ValueError``: an object is true in Python, whatever the verdict says."""
        raise ValueError("a proof has no truth value: compare its verdict, as in proved.verdict == 'entailed'")

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit prove --format json`` prints for each question: the ends are null in the classical
        reading, and ``notes`` are there if there are any."""
        fields: dict[str, object] = {
            "formula": self.formula,
            "reading": self.reading,
            "verdict": self.verdict,
            "lower": None if self.lower is None else finite(self.lower),
            "upper": None if self.upper is None else finite(self.upper),
            "core": [member.as_dict() for member in self.core],
            "models": [model.as_dict() for model in self.models],
        }
        return fields | {"notes": list(self.notes)} if self.notes else fields

    def __str__(self) -> str:
        lines = [f"{self.formula}   {_headline(self)}"]
        if self.core:
            lines.append(f"  {_BECAUSE.get(self.verdict, 'this suffices for its bounds')}")
            lines += [f"    {member}" for member in self.core]
        for model in self.models:
            rows, more = _rows(model)[:_ROWS], len(model.atoms) + len(model.numbers) - _ROWS
            width = max((len(text) for text, _ in rows), default=0)
            lines.append(f"  {_title(self, model)}")
            lines += [f"    {text:<{width}}  {value}" for text, value in rows]
            lines += [f"    ... and {more:,} more"] if more > 0 else []
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        core = [(member.text, f"{member.file}:{member.line}") for member in self.core]
        shown = [Table("", [], core, len(core))] if core else []
        for model in self.models:
            values = _rows(model)
            shown.append(Table(_title(self, model), [], values, len(values), "values"))
        return tables(*shown, text=f"{self.formula}: {_headline(self)}", notes=self.notes)


def page(results: Sequence[Proved]) -> str:
    """A whole HTML document."""
    return document("lnnkit prove", Markup("").join(Markup(proved._repr_html_()) for proved in results))


def _headline(proved: Proved) -> str:
    """The verdict with its reading, and the bounds of the exact one."""
    if proved.lower is None or proved.upper is None:
        return f"{proved.verdict} (classical)"
    return f"{proved.verdict} {format_bounds(proved.lower, proved.upper)} (exact)"


def _title(proved: Proved, model: ShownWorld) -> str:
    """What a model shows."""
    if proved.reading == "classical":
        return "a world in which it holds" if model.truth >= 0.5 else "a world in which it does not"
    return f"a world in which it is {in_digits(model.truth)}"


def _rows(model: ShownWorld) -> Sequence[tuple[str, str]]:
    """The atoms and numbers of a model with their values."""
    values = [*((text, round(truth, 9)) for text, truth in model.atoms), *model.numbers]
    return [(text, value if isinstance(value, str) else in_digits(value)) for text, value in values]
