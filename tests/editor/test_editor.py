"""What an editor asks of a text: positions, places, hover, rename, completion, outline, findings."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lnnkit.check import check
from lnnkit.editor.descriptions import hover_text, outline
from lnnkit.editor.name_places import (
    Place,
    RenameRefused,
    at_cursor,
    edited,
    ground_atom,
    named,
    places,
    rename,
    target_file,
)
from lnnkit.editor.program_files import Library, Linked, ProgramFile
from lnnkit.editor.shown_findings import MOST, shown_findings
from lnnkit.editor.suggestions import suggestions, word_start
from lnnkit.language_server.inference_client import InferenceClient
from lnnkit.language_server.inference_worker import Answering
from lnnkit.language_server.open_document import OpenDocument, Positions, checked_file
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.parse import parse
from lnnkit.syntax.split import split
from tests.blocks import at_length

EXAMPLES = sorted((Path(__file__).parents[2] / "kb_examples").glob("*/*.lnn"))

TRIAGE = """\
predicate Contact(person, person) closed
number age(person)
sort person open
load Contact from "contacts.csv"
fact Infected(anna)
fact Infected(bob) in [0.2, 0.6]
fact age(anna) = 34
axiom Rain
rule spread: Infected(X) & Contact(X, Y) -> Infected(Y) in [0.8, 1]
rule risk: Infected(X) & age(X) > 60 & ~Rain -> AtRisk(X)
query AtRisk(X)
label AtRisk(anna)
"""


def opened(text: str, name: str = "main.lnn", folder: Path | None = None, **others: str) -> tuple[Library, Path]:
    """A library in which these texts are open; no file need exist."""
    library, base = Library(), (folder or Path("/nowhere")).resolve()
    for each, content in {name: text, **{f"{key}.lnn": value for key, value in others.items()}}.items():
        library.opened[base / each] = content
    return library, base / name


def program(text: str, **others: str) -> Linked:
    library, path = opened(text, "main.lnn", None, **others)
    found = library.linked(path)
    assert found is not None
    return found


def cursor(text: str) -> tuple[str, int]:
    """The text without its mark ¦, and where that stood."""
    return text.replace("¦", "", 1), text.index("¦")


def under(text: str) -> Place | None:
    plain, offset = cursor(text)
    return at_cursor(program(plain), offset)


# --- positions ------------------------------------------------------------------------------------------------------


def test_positions_count_in_code_units() -> None:
    text = "aé😀b\r\n\u2028x\ry"
    utf16 = Positions(text)
    assert [utf16.position(offset) for offset in range(5)] == [(0, 0), (0, 1), (0, 2), (0, 4), (0, 5)]
    assert Positions(text, "utf-8").position(3) == (0, 7)
    assert Positions(text, "utf-32").position(3) == (0, 3)
    assert utf16.position(7) == (1, 1)  # U+2028 ends no line of the protocol, a lone carriage return does
    assert utf16.position(9) == (2, 0)
    assert utf16.offset(0, 3) == 2  # within the emoji: before it
    assert utf16.offset(0, 99) == 4 and utf16.offset(99, 0) == len(text)


@settings(max_examples=40)
@given(st.text("aé\u0301😀\U00010348\n\r\x0c", max_size=12), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_positions_lead_back(text: str, encoding: str) -> None:
    positions = Positions(text, encoding)  # type: ignore[arg-type]
    for offset in range(len(text) + 1):
        if not (0 < offset < len(text) and text[offset - 1 : offset + 1] == "\r\n"):
            line, character = positions.position(offset)
            assert positions.offset(line, character) == offset
    wide = [len(line.encode("utf-16-le")) // 2 for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    assert Positions(text).position(len(text)) == (len(wide) - 1, wide[-1])


# --- places ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "name", "role"),
    [
        ("predicate Con¦tact(a, b)", "predicate", "Contact", "declaration"),
        ("predicate Contact(¦town, b)", "sort", "town", "condition"),
        ("sort town¦ open", "sort", "town", "declaration"),
        ("rule A(X) & ¦B(X) -> C(X)", "predicate", "B", "condition"),
        ("rule A(X) -> C¦(X)", "predicate", "C", "conclusion"),
        ("rule A(X) -> ~(C(X) | ¦D(X))", "predicate", "D", "conclusion"),
        ("axiom A(X) <-> B¦(X)", "predicate", "B", "conclusion"),
        ("axiom forall x: A(x) -> ¦Rain", "predicate", "Rain", "conclusion"),
        ("rule ¦name: A(X) -> B(X)", "rule", "name", "declaration"),
        ('fact "has ¦part"(a)', "predicate", "has part", "fact"),
        ('fact "say \\"hi\\"¦"(a)', "predicate", 'say "hi"', "fact"),
        ("number age(p)\nrule ¦age(X) > 3 -> B(X)", "predicate", "age", "condition"),
        ("load ¦A from \"a.csv\"", "predicate", "A", "load"),
        ("label ¦A from \"a.csv\"", "predicate", "A", "label"),
        ("query ∃X: A(X) & Ä¦(X)", "predicate", "Ä", "query"),
        ("predicate A(p)\nrule ¦A(X) -> (", "predicate", "A", "condition"),  # half typed
    ],
)  # fmt: skip
def test_the_name_under_the_cursor(text: str, kind: str, name: str, role: str) -> None:
    found = under(text)
    assert found is not None
    assert (found.kind, found.name, found.role) == (kind, name, role)
    written = found.span.text
    assert written in (name, f'"{name}"') or written.replace('\\"', '"') == f'"{name}"'


@pytest.mark.parametrize(
    "text", ["rule A(¦X) -> B(X)", "fact A(an¦na)", "# ¦A\nfact A(a)", "fact A(a) = 0.¦5", "rule A(X) & X = Y¦ -> B(X)"]
)
def test_nothing_named_under_the_cursor(text: str) -> None:
    assert under(text) is None


def test_lines_that_end_in_carriage_returns() -> None:
    text = "fact A(x)\r\n# é\r\nrule A(X) &\r\n  ¦A(X) -> B(X)\r\n"
    plain, offset = cursor(text)
    found = program(plain)
    place = at_cursor(found, offset)
    assert place is not None and (place.name, place.span.text, place.span.start) == ("A", "A", offset)
    assert Positions(found.main.text).position(offset) == (3, 2)
    assert renamed(plain, "A", "C")["main.lnn"] == plain.replace("A(", "C(")


def test_places_of_an_imported_file() -> None:
    found = program('import "people.lnn"\nrule A(X) -> B(X)', people="predicate A(person)\nfact A(anna)")
    assert [(place.role, Path(place.span.source.path).name) for place in named(found, "predicate", "A")] == [
        ("condition", "main.lnn"),
        ("declaration", "people.lnn"),
        ("fact", "people.lnn"),
    ]


def test_import_circles_and_missing_files_do_no_harm() -> None:
    found = program('import "a.lnn"\nimport "gone.lnn"\nimport "\\n"', a='import "main.lnn"\nfact A(x)')
    assert [file.path.name for file in found.files] == ["main.lnn", "a.lnn"]


@pytest.mark.parametrize(
    ("text", "atom"),
    [
        ("fact A(¦anna)", "A"),
        ("rule A(anna)¦ -> B(X)", "A"),
        ("fact B(x)\nrule ¦B(X) -> A(y)", None),
        ("rule forall x: A(¦x) -> B(x)", None),
        ("axiom ¦Rain", "Rain"),
        ("fact A(a, b)\nquery A(¦a)", None),  # another number of arguments
        ("number n(p)\nfact n(¦a) = 3", "n"),
    ],
)
def test_ground_atoms(text: str, atom: str | None) -> None:
    plain, offset = cursor(text)
    found = ground_atom(program(plain), offset)
    assert (found.name if found else None) == atom


def test_files_under_the_cursor() -> None:
    for text, path in (
        ('import "p¦.lnn"', "p.lnn"),
        ('load A from "t.cs¦v" (a) where b = "c"', "t.csv"),
        ('load A from "t.csv" (a) where b = "c¦"', None),
        ('load "A¦" from "t.csv"', None),
    ):
        plain, offset = cursor(text)
        assert target_file(program(plain), offset) == path


# --- hover ----------------------------------------------------------------------------------------------------------


def hover(text: str, **others: str) -> str:
    plain, offset = cursor(text)
    found = program(plain, **others)
    place = at_cursor(found, offset)
    assert place is not None
    checked, _ = check(found.main.program, found.main.path.parent)
    return hover_text(found, place, checked)


def test_hover_over_a_predicate(tmp_path: Path) -> None:
    (tmp_path / "contacts.csv").write_text("a,b\nanna,dora\nbob,emil\nemil,cleo\n")
    library, path = opened(TRIAGE + "fact Contact(x, y)\n", folder=tmp_path)
    found = library.linked(path)
    assert found is not None
    checked, _ = check(found.main.program, tmp_path)
    assert checked is not None
    contact = hover_text(found, named(found, "predicate", "Contact")[0], checked)
    assert "predicate Contact(person, person) closed" in contact
    assert "declared on line 1" in contact
    assert "No rule concludes it" in contact
    assert "4 facts, 3 of them from `contacts.csv`" in contact
    infected = hover_text(found, named(found, "predicate", "Infected")[0], checked)
    assert "predicate Infected(person)" in infected and "not declared" in infected
    assert "- `rule spread: Infected(X) & Contact(X, Y) -> Infected(Y) in [0.8, 1]` (line 9)" in infected
    assert "2 facts" in infected
    age = hover_text(found, named(found, "predicate", "age")[0], checked)
    assert "number age(person)" in age and "1 fact" in age
    person = hover_text(found, named(found, "sort", "person")[0], checked)
    assert "sort person open" in person and "`Contact`, `age`" in person


def test_hover_where_the_program_has_errors() -> None:
    assert "nothing supplies" not in hover("axiom ¦A(X) -> B(X)")
    said = hover('load A from "gone.csv" (x)\nfact A(a)\nquery ¦A(X)')
    assert "1 fact in the text, and the rows of `gone.csv`" in said
    assert "nothing supplies it" in hover("query ¦Nope(X)")


def test_hover_names_the_file_of_an_imported_declaration() -> None:
    said = hover('import "people.lnn"\nquery ¦A(X)', people="# first\npredicate A(person)\nfact A(x)")
    assert "declared on people.lnn line 2" in said


UNKNOWN = "number rate(day)\nnumber a(day)\nrule law: rate(X) = ?f(a(X), 2 * a(X))\n"


def test_the_terms_of_an_unknown_function_are_places_like_others() -> None:
    said = hover(UNKNOWN.replace("?f(a", "?f(¦a"))
    assert "number a(day)" in said
    assert renamed(UNKNOWN, "a", "width")["main.lnn"] == UNKNOWN.replace("a(X)", "width(X)").replace(" a(d", " width(d")
    warned = [each.code for each in check(program(UNKNOWN).main.program, Path("/nowhere"))[1]]
    assert warned == ["untrained-function"]


# --- rename ---------------------------------------------------------------------------------------------------------


def renamed(text: str, name: str, new: str, **others: str) -> dict[str, str]:
    found = program(text, **others)
    edits = rename(found, name, new)
    return {file.path.name: edited(file.text, edits[file.path]) for file in found.files if file.path in edits}


def test_rename_everywhere_and_nothing_else() -> None:
    text = TRIAGE + '# Infected stays\nquery Infected(infected) & City("Infected", X)\nfact City(a, b)\n'
    assert renamed(text, "Infected", "Ill") == {
        "main.lnn": text.replace("Infected(", "Ill("),
    }
    assert renamed(text, "age", "years")["main.lnn"] == text.replace("age(", "years(")
    assert renamed(text, "Contact", '"has part"')["main.lnn"] == (
        text.replace("Contact(", '"has part"(').replace("load Contact", 'load "has part"')
    )
    assert renamed(text, "Rain", '"it rains"')["main.lnn"] == text.replace("Rain", '"it rains"()')


def test_rename_after_emoji_and_combining_marks() -> None:
    text = 'fact A("😀") # 😀 A\nrule A("😀é") & A(X) -> Bé(X)\n'
    assert renamed(text, "A", "Ä")["main.lnn"] == text.replace("A(", "Ä(")
    assert renamed(text, "B\u00e9", "C")["main.lnn"] == text.replace("Bé", "C")


def test_rename_in_imported_and_importing_files() -> None:
    library, path = opened("predicate A(p)\n", "lib.lnn", main='import "lib.lnn"\nfact A(x)\n', far="fact A(x)\n")
    found = library.affected(path, "A")
    assert found is not None
    assert sorted(each.name for each in rename(found, "A", "B")) == ["lib.lnn", "main.lnn"]  # `far` is another program


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ("AtRisk", "taken"),
        ("age", "taken"),
        ("a b", "not a name"),
        ("", "not a name"),
        ("and", "not a name"),
        ("count", "reserved"),
        ("A(x)", "not a name"),
        ("A closed", "not a name"),
        ("A # b", "not a name"),
        ("A\nfact B(x)", "not a name"),
        ("X", "variable"),  # it would be one in `X = anna`
    ],
)
def test_rename_refused(new: str, said: str) -> None:
    text = TRIAGE + "rule Rain & X = anna -> AtRisk(X)\n"
    with pytest.raises(RenameRefused, match=said):
        renamed(text, "Rain", new)


def test_rename_refused_where_a_statement_is_broken() -> None:
    with pytest.raises(RenameRefused, match="syntax error"):
        renamed("fact A(x)\nrule A(X) -> \n", "A", "B")
    assert renamed("fact A(x)\nrule C(X) -> \n", "A", "B") == {"main.lnn": "fact B(x)\nrule C(X) -> \n"}


@pytest.mark.parametrize("path", at_length(EXAMPLES, plain=6), ids=lambda path: path.stem)
def test_every_predicate_of_the_examples_can_be_renamed_and_back(path: Path) -> None:
    library = Library()
    found = library.linked(path)
    assert found is not None
    for name in found.predicates:
        edits = rename(found, name, "Quite-new")
        texts = {file.path: edited(file.text, edits.get(file.path, ())) for file in found.files}
        library.opened.update(texts)
        changed = library.linked(path)
        assert changed is not None and name not in changed.predicates
        back = rename(changed, "Quite-new", name)
        assert [edited(file.text, back.get(file.path, ())) for file in changed.files] == [
            file.text for file in found.files
        ]
        library.opened.clear()


# --- completion -----------------------------------------------------------------------------------------------------


def suggested(text: str) -> dict[str, str]:
    plain, offset = cursor(text)
    return {each.text: each.kind for each in suggestions(program(plain), offset)}


def test_completion() -> None:
    assert suggested("¦")["rule"] == "keyword"
    assert suggested(TRIAGE + "ru¦")["rule"] == "keyword"
    found = suggested(TRIAGE + "rule In¦")
    assert (found["Infected"], found["age"], found["not"]) == ("predicate", "number", "keyword")
    assert "rule" not in found and "person" not in found and "in" not in found
    found = suggested(TRIAGE + "rule AtRisk(X) ¦")
    assert {"and", "implies", "in"} <= set(found) and "Infected" not in found
    assert suggested(TRIAGE + "predicate New(p¦") == {"person": "sort", "entity": "sort"}
    assert set(suggested(TRIAGE + "predicate New(person) ¦")) == {"closed"}
    assert set(suggested("logic ¦")) == {"lukasiewicz", "product", "godel"}
    behind = {"where", "missing", "delimiter", "decimal", "encoding", "trim", "header", "no header", "trust"}
    assert set(suggested(TRIAGE + 'load Contact from "a.csv" ¦')) == behind
    assert suggested(TRIAGE + "load Con¦")["Contact"] == "predicate"
    assert suggested(TRIAGE + "rule AtRisk(X) &\n  Inf¦")["Infected"] == "predicate"


@pytest.mark.parametrize("text", ["# ru¦", 'fact A("b¦', "rule Infected(¦", 'import "p¦', "fact A(x) = ¦"])
def test_no_completion(text: str) -> None:
    assert not {"predicate", "sort"} & set(suggested(TRIAGE + text).values())


def test_the_word_that_is_completed() -> None:
    for text in ("rule ¦in-la", "rule ¦", "¦ru", "# é 😀 ¦wörd"):
        plain, begin = cursor(text)
        assert word_start(program(plain), len(plain)) == begin


# --- outline, findings ----------------------------------------------------------------------------------------------


def test_outline() -> None:
    found = [(each.kind, each.name, each.detail, each.selected.text) for each in outline(program(TRIAGE).main)]
    assert found == [
        ("predicate", "Contact", "(person, person) closed", "Contact"),
        ("number", "age", "(person)", "age"),
        ("sort", "person", "open", "person"),
        ("file", 'load Contact from "contacts.csv"', "", "Contact"),
        ("rule", "Rain", "axiom", "Rain"),
        ("rule", "spread", "rule", "spread"),
        ("rule", "risk", "rule", "risk"),
        ("query", "AtRisk(X)", "query", "AtRisk"),
    ]


def test_findings_about_other_files_are_shown_where_they_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,t\nanna,2\n")
    (tmp_path / "lib.lnn").write_text("fact A(\n")
    text = 'import "lib.lnn"\npredicate P(thing)\nload P from "a.csv"\nload Q from "gone.csv"\nquery Zed(X)\n'
    library, path = opened(text, folder=tmp_path)
    file = library.file(path)
    assert file is not None
    shown = shown_findings(checked_file(file, True)[1], file, library)
    lines = {text.count("\n", 0, each.start) + 1: each for each in shown}
    assert lines[1].message.startswith(str(tmp_path / "lib.lnn")) and lines[1].code == "unclosed-group"
    assert lines[3].message.startswith(f"{tmp_path / 'a.csv'}:2:")
    assert lines[4].code == "missing-file"
    assert text[lines[5].start : lines[5].end] == "Zed" and "hint: " in lines[5].message


def test_so_many_findings_are_cut() -> None:
    library, path = opened("fact A(x)\n")
    file = library.file(path)
    assert file is not None
    shown = shown_findings([Diagnostic("c", f"m{number}") for number in range(MOST + 5)], file, library)
    assert len(shown) == MOST and shown[-1].message.startswith("and 6 more findings")


@pytest.mark.parametrize("path", EXAMPLES[::6], ids=lambda path: path.stem)
def test_half_typed_texts_do_no_harm(path: Path) -> None:
    """Every statement of an example cut at every place, behind the rest of it."""
    text = path.read_text(encoding="utf-8")
    pieces = split(text)
    library = Library()
    for piece in pieces[:: max(1, len(pieces) // 4)]:
        for end in range(piece.start, piece.end, 5):
            library.opened[path] = text[:end]
            found = library.linked(path)
            assert found is not None
            check(found.main.program, path.parent, read_data=False)
            for ask in (at_cursor, ground_atom, target_file, suggestions):
                ask(found, end)
            assert all(item.span.end <= end for item in outline(found.main))
            assert all(place.span.end <= end for place in places(found) if place.span.source.path == str(path))


# --- bounds ---------------------------------------------------------------------------------------------------------


def request(text: str, query: str, key: str = "1") -> dict[str, str]:
    return {"key": key, "text": text, "path": "p.lnn", "base": ".", "query": query}


def test_the_worker_answers() -> None:
    answering = Answering()
    text = "fact A(anna) in [0.25, 0.5]\nrule A(X) -> B(X)\nnumber n(p)\nfact n(anna) = 3\n"
    assert answering.answer(request(text, "B(anna)")) == {"bounds": "[0.25, 1]", "state": "likely true"}
    assert answering.answer(request(text, "n(anna)")) == {"bounds": "3", "state": "number"}
    assert "nothing supplies `A`" in answering.answer(request("query A(x)", "A(x)", "2"))["error"]


class SlowClient:
    """Answers when it is told to."""

    busy = False

    def __init__(self) -> None:
        self.told = asyncio.Event()
        self.asked: list[str] = []

    async def ready(self) -> None:
        pass

    async def ask(self, request: dict[str, str], wanted: object) -> dict[str, str]:
        self.asked.append(request["query"])
        await self.told.wait()
        return {"bounds": "[0.8, 1]", "state": "likely true"}


def test_slow_bounds_come_later_and_then_only_after_a_save(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lnnkit.language_server.open_document.QUICK", 0.01)  # the clock: bounds are slow at once
    library, path = opened("fact A(x)\n")
    client = SlowClient()

    async def session() -> list[str]:
        document = OpenDocument("file:///p", path, lambda: library.file(path), lambda *_: None)
        document.changed()

        async def bounds() -> str:
            return await document.bounds("A(x)", "fact A(x)\n", client)  # type: ignore[arg-type]

        said = [await bounds(), await bounds()]
        client.told.set()
        await asyncio.sleep(0.05)
        said.append(await bounds())
        document.changed()
        said.append(await bounds())
        document.changed(saved=True)
        said.append(await bounds())
        document.closed = True
        return said

    running, still, done, later, saved = asyncio.run(session())
    assert "running" in running and still == running and done == "`A(x)`: **[0.8, 1]** likely true"
    assert "saved" in later and saved == done
    assert client.asked == ["A(x)", "A(x)"]


def test_edits_in_a_row_are_checked_once_and_slow_checks_leave_tables_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    library, path = opened("fact A(x)\n")
    seen: list[tuple[str, bool]] = []
    shown: list[str] = []

    def check_slowly(file: ProgramFile, read_data: bool) -> tuple[None, list[Diagnostic], float]:
        seen.append((file.text, read_data))
        return None, [], 99.0

    # The clock: a check that takes 99 seconds
    monkeypatch.setattr("lnnkit.language_server.open_document.checked_file", check_slowly)
    monkeypatch.setattr("lnnkit.language_server.open_document.DELAY", 0.05)  # the clock

    async def session() -> None:
        document = OpenDocument("u", path, lambda: library.file(path), lambda _, file, found: shown.append(file.text))

        async def edited_to(*texts: str, saved: bool = False) -> None:
            for number, text in enumerate(texts):
                library.opened[path] = text
                document.changed(saved=saved)
                if number == 0:
                    await asyncio.sleep(0)  # the check begins to wait, and the others come before it goes on
            await document.checked()

        await edited_to("fact A(x)\n")
        await edited_to("a\n", "b\n", "c\n")
        await edited_to("c\n", saved=True)

    asyncio.run(session())
    assert seen == [("fact A(x)\n", True), ("c\n", False), ("c\n", True)]
    assert shown == [text for text, _ in seen]


WORKER = """
import json, sys, time
print("ready", flush=True)
for line in sys.stdin:
    asked = json.loads(line)["query"]
    time.sleep(600 if asked == "slow" else 0)
    print(json.dumps({"bounds": asked}), flush=True)
"""


def test_to_cancel_ends_the_process_and_the_next_question_gets_another() -> None:
    async def session() -> list[object]:
        client = InferenceClient([sys.executable, "-c", WORKER])
        try:
            first = await client.ready()
            asking = asyncio.create_task(client.ask(request("", "slow"), lambda: True))
            await asyncio.sleep(0.1)
            assert client.busy and not asking.done()
            client.cancel()
            found: list[object] = [await asyncio.wait_for(asking, 30)]
            found.append(await client.ask(request("", "stale"), lambda: False))
            found.append(await client.ask(request("", "quick"), lambda: True))
            assert first.returncode is not None and await client.ready() is not first
            client.cancel()  # nothing is asked
            return [*found, await client.ask(request("", "again"), lambda: True)]
        finally:
            await client.ended()

    assert asyncio.run(session()) == [None, None, {"bounds": "quick"}, {"bounds": "again"}]


# --- completion in atoms and paths ------------------------------------------------------------------------------------


def offered(text: str, folder: Path) -> list[str]:
    """What the text before the cursor would become, on its last line."""
    plain, offset = cursor(text)
    (folder / "main.lnn").write_text(plain, newline="")
    linked = Library().linked(folder / "main.lnn")
    assert linked is not None
    checked = check(parse(plain.rpartition("\n")[0] + "\n")[0], folder)[0]
    start = word_start(linked, offset)
    line = plain.rfind("\n", 0, offset) + 1
    return [plain[line:start] + each.text for each in suggestions(linked, offset, checked)]


def test_entities_complete_in_atoms(tmp_path: Path) -> None:
    (tmp_path / "lives.csv").write_text("a,b\nitem-001,Oslo\nitem-002,New York\n")
    text = 'load Lives from "lives.csv"\nfact Infected(anna)\nfact Infected(anton)\n'
    assert offered(text + "query Infected(an¦", tmp_path) == ["query Infected(anna", "query Infected(anton"]
    assert offered(text + "fact Lives(item-¦", tmp_path) == ["fact Lives(item-001", "fact Lives(item-002"]
    assert offered(text + "fact Lives(anna, N¦", tmp_path) == ['fact Lives(anna, "New York"']
    assert offered(text + 'fact Lives(anna, "New¦', tmp_path) == ['fact Lives(anna, "New York"']
    rule = offered(text + "rule Infected(X) & Lives(X, Place) -> Seen(¦", tmp_path)
    assert rule[:2] == [f"rule Infected(X) & Lives(X, Place) -> Seen({name}" for name in ("X", "Place")]
    assert offered(text + 'fact Infected("a¦ b")', tmp_path)[0] == 'fact Infected("anna"'
    assert offered(text + "# Infected(an¦", tmp_path) == []
    assert "query abs(anna" not in offered(text + "query abs(an¦", tmp_path)


def test_paths_complete(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name in ("people.csv", "pets.parquet", "parts.lnn", "notes.md", "data/towns.csv.gz"):
        (tmp_path / name).write_text("")
    assert offered('load P from "pe¦', tmp_path) == ['load P from "people.csv', 'load P from "pets.parquet']
    assert offered('load P from "¦"', tmp_path)[0] == 'load P from "data/'
    assert offered('load P from "data/t¦"', tmp_path) == ['load P from "data/towns.csv.gz']
    assert offered('label P from "no/such/¦"', tmp_path) == []
    assert offered('import "pa¦"', tmp_path) == ['import "parts.lnn']
    assert offered('load P from "\0¦"', tmp_path) == []
