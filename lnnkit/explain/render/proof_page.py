"""An explanation as HTML: a tree that unfolds, by itself a page or a part of one."""

from __future__ import annotations

import html
from collections.abc import Iterator

from lnnkit.answer_table import format_bounds, state_in_words
from lnnkit.explain.proof.explained import Explained, uses
from lnnkit.explain.proof.proof import Step
from lnnkit.explain.render.as_text import RELATION, because, format_bound, subject

_STYLE = """
.lnn-proof { font: 14px/1.5 system-ui, sans-serif; }
.lnn-proof ul { list-style: none; margin: 0 0 0 .5em; padding-left: 1em; border-left: 1px solid #ccc; }
.lnn-proof summary { cursor: pointer; }
.lnn-proof li > span { padding-left: 1.05em; }
.lnn-proof b { font-weight: 600; }
.lnn-proof .why { color: #667; margin-left: .8em; }
.lnn-proof .lower { color: #1a6e3c; } .lnn-proof .upper { color: #a33a2a; }
.lnn-proof code { background: #f3f3f6; padding: .1em .35em; border-radius: 3px; color: #223; }
.lnn-proof a { color: inherit; }
"""
_OPEN = 3  # levels that are unfolded at first


def page(explanation: Explained, depth: int | None = None) -> str:
    """A whole document."""
    title = html.escape(explanation.atom)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body>{fragment(explanation, depth)}</body></html>\n"
    )


def fragment(explanation: Explained, depth: int | None = None) -> str:
    """The same to be put into a page."""
    bounds = format_bounds(explanation.lower, explanation.upper)
    state = state_in_words(explanation.state, explanation.contested)
    head = f"<p><b>{html.escape(explanation.atom)}</b> {bounds} {html.escape(state)}</p>"
    return f'<div class="lnn-proof"><style>{_STYLE}</style>{head}{"".join(_trees(explanation, depth))}</div>'


def _trees(explanation: Explained, depth: int | None) -> Iterator[str]:
    """Both sides, without recursion: what is to be written next lies on a stack."""
    proof = explanation.proof
    repeated = {number for number, count in enumerate(uses(proof)) if count > 1}
    met: set[int] = set()
    for top in dict.fromkeys((proof.lower, proof.upper)):
        yield "<ul>"
        stack: list[str | tuple[int, int, float]] = [(top, 0, 1.0)]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                yield item
                continue
            number, level, weight = item
            step = proof.steps[number]
            below = [(premise.step, premise.weight) for premise in step.premises]
            line = _line(step, weight)
            if number in met and below:
                yield f'<li><span>{line} <a href="#step{number}">see above</a></span></li>'
                continue
            met.add(number)
            anchor = f' id="step{number}"' if number in repeated and below else ""
            if not below or (depth is not None and level >= depth):
                more = f' <span class="why">resting on {len(below)} more</span>' if below else ""
                yield f"<li{anchor}><span>{line}{more}</span></li>"
                continue
            unfolded = " open" if level < _OPEN else ""
            yield f"<li{anchor}><details{unfolded}><summary>{line}</summary><ul>"
            stack.append("</ul></details></li>")
            stack.extend((premise, level + 1, own) for premise, own in reversed(below))
        yield "</ul>"


def _line(step: Step, weight: float) -> str:
    relation = {"lower": "≥", "upper": "≤"}[step.side]
    assert step.side in RELATION
    weighed = f" @{weight:g}" if weight != 1.0 else ""
    text = ""
    if step.statement is not None:
        text = f"<code>{html.escape(step.statement.text)}</code>"
    return (
        f'<b class="{step.side}">{html.escape(subject(step))} {relation} {format_bound(step.bound)}</b>{weighed}'
        f'<span class="why">{html.escape(because(step))} {text}</span>'
    )
