"""What completion offers."""

from __future__ import annotations

from pathlib import Path

import pytest

import lnnkit
from lnnkit.shell.terminal_prompt import suggestions


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> lnnkit.KnowledgeBase:
    folder: Path = tmp_path_factory.mktemp("shell")
    rows = "".join(f"item-{i:03},{i}\n" for i in range(200))
    (folder / "t.csv").write_text(f"a,b\n{rows}New York,7\n")
    facts = 'fact Infected(anna)\nfact Infected("Bob")\nfact "has part"(anna, zoe)\n'
    return lnnkit.loads(f'number age(person)\n{facts}load Lives from "t.csv"\n', folder)


def offered(kb: lnnkit.KnowledgeBase, text: str) -> list[str]:
    """What the text would become."""
    return [text[: len(text) + each.start_position] + each.text for each in suggestions(kb, text)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("In", ["Infected"]),
        ("why In", ["why Infected"]),
        ("w", ["why", "whynot"]),
        ("rule r: Inf", ["rule r: Infected"]),
        ("ru", ["rules", "rule"]),
        ("P(X) & ag", ["P(X) & age"]),
        ("P(X) & ru", []),  # no statement starts here
        ("for", ["forall"]),
        ("Infected(an", ["Infected(anna"]),
        ("Lives(anna, zo", ["Lives(anna, zoe"]),
        ("Infected(B", ['Infected("Bob"']),
        ('Lives("New', ['Lives("New York"']),
        ("Lives(item-19", [f"Lives(item-19{i}" for i in range(10)]),
        ("(In", ["(Infected"]),  # a group, not an atom's arguments
        ("exists X: (In", ["exists X: (Infected"]),
        ('Lives("a(", it', ['Lives("a(", item-' + f"{i:03}" for i in range(50)]),
        ("xyz", []),
        ('"', []),
    ],
)
def test_offered(text: str, wanted: list[str], kb: lnnkit.KnowledgeBase) -> None:
    assert offered(kb, text) == wanted


def test_everything_is_offered_at_the_start(kb: lnnkit.KnowledgeBase) -> None:
    kinds = {each.text: each.display_meta_text for each in suggestions(kb, "")}
    assert kinds["why"] == "command"
    assert kinds["fact"] == "keyword"
    assert kinds["Infected"] == "predicate"
    assert kinds['"has part"'] == "predicate"
    assert kinds["age"] == "number"
    assert kinds["forall"] == "keyword"
