"""Verdicts as HTML, as a page or a fragment."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from lnnkit.markup.html_table import Table, tables
from lnnkit.markup.templating import document
from lnnkit.prove.verdict.verdict_text import headline, rows, title
from lnnkit.prove.verdict.verdicts import Decided


def page(results: Sequence[Decided]) -> str:
    """A whole HTML document."""
    return document("lnnkit prove", Markup("").join(Markup(fragment(decided)) for decided in results))


def fragment(decided: Decided) -> str:
    """One verdict as an HTML fragment."""
    core = [(member.text, f"{member.file}:{member.line}") for member in decided.core]
    shown = [Table("", [], core, len(core))] if core else []
    for model in decided.models:
        values = rows(model)
        shown.append(Table(title(decided, model), [], values, len(values), "values"))
    return tables(*shown, text=f"{decided.formula}: {headline(decided)}", notes=decided.notes)
