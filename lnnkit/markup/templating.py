"""Renders pages and pictures from the templates beside this file; values are escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from lnnkit.markup.palette import PALETTE

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def rendered(template: str, **values: object) -> Markup:
    """The rendered template of that file name, as markup that later templates do not escape again."""
    from markupsafe import Markup

    return Markup(_environment().get_template(template).render(values))


def document(title: str, fragment: Markup) -> str:
    """A whole page around a fragment; it loads nothing."""
    return str(rendered("document.html", title=title, fragment=fragment)) + "\n"


def visible(text: str, keep: str = "") -> str:
    """``text`` with control characters escaped: XML has none, and they must not reorder what is read."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode("ascii") for c in text)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("lnnkit.markup"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(value, keep="\n\t") if type(value) is str else value,
    )
    environment.globals["palette"] = PALETTE
    return environment
