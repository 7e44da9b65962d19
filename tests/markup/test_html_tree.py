"""Trees in notebooks: proofs and why-nots, which fold; text stays text, and lists have no marks of the notebook's."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import lnnkit
from lnnkit.markup.pages import FoldingTree, TreeLine

PROGRAM = """\
predicate Contact(person, person) closed
fact Contact(anna, dora)
fact Infected(anna)
fact ~Infected(cleo)
fact Old(dora)
rule spread: Infected(X) & Contact(X, Y) -> Infected(Y)
rule risk: Infected(X) & Old(X) -> AtRisk(X)
"""


class Outline(HTMLParser):
    """The lines of a tree, each with its depth, and whether all that it lies in is unfolded."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.lines: list[tuple[int, str, bool]] = []
        self._folds: list[bool] = []
        self._reading = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "li":
            self.lines.append((len(self._folds), "", all(self._folds)))
            self._reading = True
        elif tag == "details":
            self._folds.append("open" in dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        if tag == "details":
            self._folds.pop()
        self._reading = self._reading and tag not in ("li", "summary")

    def handle_data(self, data: str) -> None:
        if self._reading:
            depth, text, seen = self.lines[-1]
            self.lines[-1] = depth, " ".join(f"{text}{data}".split(" ")), seen


def outline(page: str) -> list[tuple[int, str, bool]]:
    return [(depth, " ".join(text.split()), seen) for depth, text, seen in Outline(page).lines]


def test_why_not_is_a_tree_of_statements_their_ways_and_what_these_lack() -> None:
    found = lnnkit.loads(PROGRAM, path="p.lnn").why_not("AtRisk(cleo)")
    assert outline(found._repr_html_()) == [
        (0, "rule risk p.lnn:7 rule risk: Infected(X) & Old(X) -> AtRisk(X)", True),
        (1, "X = cleo would need, to give ≥ 1,", True),
        (2, "Infected(cleo) ≥ 1 now 0, lacks 1; but it is <= 0", True),
        (2, "Old(cleo) ≥ 1 now 0, lacks 1", True),
    ]


def test_of_many_ways_by_one_rule_the_nearest_is_unfolded() -> None:
    text = "predicate Good(e)\n" + "".join(f"fact Link(a, b{n})\n" for n in range(6))
    found = lnnkit.loads(text + "rule Link(X, Y) & Good(Y) -> Good(X)\n").why_not("Good(a)")
    shown = outline(found._repr_html_())
    ways = [line for line in shown if line[0] == 1]
    assert len(ways) == len(found.ways) > 1
    assert sum(line[0] == 0 for line in shown) == 1  # the rule stands once
    assert [seen for depth, _, seen in shown if depth == 2] == [True] + [False] * (len(ways) - 1)


def test_why_not_is_a_page() -> None:
    page = lnnkit.loads(PROGRAM).why_not("AtRisk(cleo)").to_html()
    assert page.startswith("<!doctype html>") and "<title>AtRisk(cleo)</title>" in page
    assert "is ≥ 0; why not 1?" in page
    met = lnnkit.loads(PROGRAM).why_not("Old(dora)")._repr_html_()
    assert "is ≥ 1: nothing is missing" in met and outline(met) == []


def test_a_proof_is_a_tree_of_steps() -> None:
    shown = outline(lnnkit.loads(PROGRAM, path="p.lnn").explain("AtRisk(dora)")._repr_html_())
    assert [(depth, text.partition(" rule ")[0], seen) for depth, text, seen in shown] == [
        (0, "AtRisk(dora) ≥ 1", True),
        (1, "Infected(dora) ≥ 1", True),
        (2, "Infected(anna) ≥ 1 fact, p.lnn:3", True),
        (2, "Contact(anna, dora) ≥ 1 fact, p.lnn:2", True),
        (1, "Old(dora) ≥ 1 fact, p.lnn:5", True),
        (0, "AtRisk(dora) ≤ 1 nothing says more", True),
    ]


def test_a_deep_proof_does_not_indent_without_end() -> None:
    text = "predicate Link(n, n) closed\nfact Good(n0)\nrule Good(X) & Link(X, Y) -> Good(Y)\n"
    text += "".join(f"fact Link(n{n}, n{n + 1})\n" for n in range(60))
    page = lnnkit.loads(text).explain("Good(n60)")._repr_html_()
    assert max(depth for depth, _, _ in outline(page)) == 60
    assert page.count("<ul>") < 12 and page.count('<ul class="deep">') > 48


def test_text_is_text() -> None:
    name = "<img src=x> & \x1b[2J"
    lines = [TreeLine("open", name, name, name), TreeLine("leaf", name), TreeLine("close")]
    page = str(FoldingTree(name, name, lines, [name], [name]).fragment())
    assert page.count("&lt;img src=x&gt; &amp; \\x1b[2J") == 8 and "<img" not in page


def test_notebooks_put_no_marks_before_lines() -> None:
    """JupyterLab's own rule for lists is `.jp-RenderedHTMLCommon ul:not(.list-inline) { list-style: disc; }`."""
    page = str(FoldingTree("", "", []).fragment())
    assert re.search(r"\.lnn-tree ul, \.lnn-tree li \{ list-style: none !important; \}", page)
