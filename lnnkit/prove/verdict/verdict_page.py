"""Verdicts as HTML: by themselves a page or a part of one."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from lnnkit.prove.verdict.verdict_text import headline, rows, title
from lnnkit.prove.verdict.verdicts import Decided

_STYLE = """
.lnn-proved { font: 14px/1.5 system-ui, sans-serif; margin: 1em 0; }
.lnn-proved table { border-collapse: collapse; margin: .3em 0 .8em 1em; }
.lnn-proved td, .lnn-proved th { padding: .1em .8em .1em 0; text-align: left; }
.lnn-proved code { background: #f3f3f6; padding: .1em .35em; border-radius: 3px; color: #223; }
.lnn-proved .why { color: #667; }
"""


def page(results: Sequence[Decided]) -> str:
    """A whole document."""
    parts = "".join(fragment(decided) for decided in results)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>lnnkit prove</title></head>\n'
        f"<body>{parts}</body></html>\n"
    )


def fragment(decided: Decided) -> str:
    """The same of one question, to be put into a page."""
    return f'<div class="lnn-proved"><style>{_STYLE}</style>{"".join(_parts(decided))}</div>'


def _parts(decided: Decided) -> Iterator[str]:
    yield f"<p><code>{html.escape(decided.formula)}</code> <b>{html.escape(headline(decided))}</b></p>"
    if decided.core:
        yield "<table>"
        for member in decided.core:
            place = html.escape(f"{member.file}:{member.line}")
            yield f'<tr><td><code>{html.escape(member.text)}</code></td><td class="why">{place}</td></tr>'
        yield "</table>"
    for model in decided.models:
        yield f"<table><caption>{html.escape(title(decided, model))}</caption>"
        yield from (f"<tr><td>{html.escape(text)}</td><td>{value}</td></tr>" for text, value in rows(model))
        yield "</table>"
    yield from (f'<p class="why">{html.escape(note)}</p>' for note in decided.notes)
