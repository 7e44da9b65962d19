"""The site in docs/: each code block of each page is run, and the reference pages treat all that there is."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import lnnkit
from lnnkit.check.weights import RELATION_ATTRIBUTES, UNIT_ATTRIBUTES
from lnnkit.cli import main
from lnnkit.syntax import ast
from lnnkit.syntax.identifiers import OPERATION_OF
from tests.pages import ROOT, run_page

DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


RUN = [*PAGES, "../ARCHITECTURE.md", "../CONTRIBUTING.md"]  # the site includes both
LONG = (  # they train, search or prove for a second or more
    *("tutorials/labels.md", "howto/formulas.md", "howto/sklearn.md"),
    *("howto/check_claims.md", "howto/prove.md", "howto/aggregates.md", "howto/debug.md"),
)


@pytest.mark.parametrize("page", [pytest.param(page, marks=pytest.mark.slow) if page in LONG else page for page in RUN])
def test_blocks_of_records(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_page(DOCS / page, tmp_path, monkeypatch)


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_that_are_named_exist(page: str) -> None:
    named = re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", (ROOT / page).read_text(encoding="utf-8"))
    assert named
    assert [each for each in named if not (ROOT / each).exists() and not (ROOT / "lnnkit" / each).exists()] == []


# --- the reference treats all that there is -------------------------------------------------------------------------

LANGUAGE = (DOCS / "reference" / "language.md").read_text(encoding="utf-8")
ATTRIBUTES = LANGUAGE.split("## Weights and attributes")[1].split("## Units")[0]
CODE = frozenset(word for span in re.findall(r"`([^`\n]+)`", LANGUAGE) for word in [span, *span.split()])
GRAMMAR = (ROOT / "grammar" / "lnn.lark").read_text(encoding="utf-8")


def terminals() -> dict[str, str]:
    """The terminals of the grammar, each with its definition."""
    return dict(re.findall(r"^([A-Z_]+)(?:\.\d+)?: (.+)$", GRAMMAR, re.MULTILINE))


def words_and_symbols() -> set[str]:
    """What the grammar spells: keywords, words of formulas, functions, units and symbols, but brackets and the like."""
    named = {"STRING", "NUMBER", "LEARNABLE", "NAME", "ENTITY", "COMPARE", "MINUS", "COLON", "FUNCTION", "ISO"}
    found = {
        ">",
        "<",
        ">=",
        "<=",
        "=",
        "!=",
        "≤",
        "≥",
        "≠",
        "<?>",
        "-",
        *OPERATION_OF,
        "date",
        "days",
    }  # COMPARE, MINUS and FUNCTION are too tangled to take apart
    for name, text in terminals().items():
        if name in named:
            continue
        bare = text.strip('"') if text.startswith('"') else text.strip("/")
        bare = re.sub(r"\(\?[!=](?:[^()\[\]]|\\.|\[[^\]]*\]|\([^()]*\))*\)", "", bare)  # look-aheads
        bare = bare.replace(r"\s+", " ")
        for part in re.split(r"(?<!\\)\|", re.sub(r"(?<!\\)[()]", "", bare)):
            found.add(re.sub(r"\\(.)", r"\1", part))
    return found - set("()[]{},") - {""}


def test_the_grammar_is_read_as_it_is() -> None:
    found = words_and_symbols()
    assert {"load", "no header", "where", "implies", "∃", "sqrt", "realnpu", "<?>", "@", "|", "closed", "⊥"} <= found
    assert len(found) > 60


def test_the_language_page_treats_every_word_and_symbol() -> None:
    treated = {word.replace("\\|", "|").strip("(),:;.") for word in CODE} | {"no header" if "no header" in CODE else ""}
    characters = {character for word in CODE for character in word.replace("\\|", "|") if not character.isalnum()}
    missing = {each for each in words_and_symbols() if each not in treated and each not in characters}
    assert missing == set()


def test_the_language_page_has_every_statement() -> None:
    statements = set(re.findall(r"^[A-Z_]+: \"([a-z]+)\"$", GRAMMAR, re.MULTILINE))
    headings = set(re.findall(r"^### (\w+)$", LANGUAGE, re.MULTILINE))
    assert statements == headings


def test_the_language_page_treats_every_attribute_logic_and_form_of_a_value() -> None:
    attributes = {"bias", "logic", *RELATION_ATTRIBUTES}.union(*UNIT_ATTRIBUTES.values())
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", ATTRIBUTES, re.MULTILINE)
    assert attributes == {key for key, _ in rows}
    for unit, shapes in UNIT_ATTRIBUTES.items():
        assert {key for key, of in rows if f"`{unit}`" in of} == set(shapes)
    assert set(ast.LOGICS) | {"?", "?50", "?cut", "?cut=50"} <= CODE


def test_the_command_line_page_has_the_options_of_each_command(capsys: pytest.CaptureFixture[str]) -> None:
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    main(["--help"])
    commands = re.findall(r"^    (\w+) {2,}", capsys.readouterr().out, re.MULTILINE)
    assert set(sections) == set(commands)
    for name in commands:
        main([name, "--help"])
        shown = capsys.readouterr().out
        there = set(re.findall(r"^  (?:-\w(?: \w+)?, )?(--[\w-]+)", shown, re.MULTILINE)) - {"--help"}
        written = set(re.findall(r"`(--[\w-]+)", "\n".join(re.findall(r"^\| .*", sections[name], re.MULTILINE))))
        assert written == there, f"docs/reference/cli.md, {name}"


def test_the_python_page_names_all_that_is_public() -> None:
    page = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^::: lnnkit\.(\w+)$", page, re.MULTILINE))
    assert set(lnnkit.__all__) - {"__version__"} <= named
    assert all(hasattr(lnnkit, name) for name in lnnkit.__all__)


def test_every_argument_of_fit_is_in_its_docstring() -> None:
    text = lnnkit.KnowledgeBase.fit.__doc__ or ""
    arguments = set(inspect.signature(lnnkit.KnowledgeBase.fit).parameters) - {"self"}
    assert {each for each in arguments if f"``{each}``" not in text} <= {"epochs", "seed", "loss", "max_groundings"}


def test_every_page_is_in_the_navigation() -> None:
    listed = set(re.findall(r": ([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert listed == set(PAGES)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_to_files(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
    assert [link for link in links if not (ROOT / link).exists()] == []
