"""The interpreter of the shell: inputs in, effects and replies out, without a terminal."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest

from lnnkit import load
from lnnkit.cli import main
from lnnkit.shell.line_runner import whole_input
from lnnkit.shell.performing import Reply, perform
from lnnkit.shell.shell_state import ShellState, Typed, opened, renewed

TRIAGE = """\
predicate Contact(person, person) closed
load Contact from "contacts.csv"
number age(person)
fact Infected(anna)
fact Infected(bob) in [0.2, 0.6]
rule spread: Infected(X) & Contact(X, Y) -> Infected(Y) in [0.8, 1]
query Infected(X)
"""


@pytest.fixture
def triage(tmp_path: Path) -> Path:
    (tmp_path / "contacts.csv").write_text("a,b\nanna,dora\nbob,emil\n")
    (tmp_path / "triage.lnn").write_text(TRIAGE)
    return tmp_path / "triage.lnn"


class Session:
    """Inputs one after another."""

    def __init__(self, path: Path | None = None) -> None:
        self.state: ShellState = opened(None if path is None else load(path))
        self.count = 0

    def reply(self, text: str) -> Reply:
        self.count += 1
        self.state, reply = perform(self.state, Typed(text, line=self.count), headed=False)
        return reply

    def says(self, text: str) -> str:
        """The text of a reply in which nothing is wrong."""
        reply = self.reply(text)
        assert reply.findings == ()
        return reply.text

    def codes(self, text: str) -> list[str]:
        return [finding.code for finding in self.reply(text).findings]

    def rows(self, query: str) -> list[list[str]]:
        """The rows of an answer, without the heads."""
        return [line.split(maxsplit=1) for line in self.says(query).splitlines()[1:]]


def test_a_query_is_answered(triage: Path) -> None:
    session = Session(triage)
    wanted = (
        "  X     bounds      state\n"
        "  anna  [1, 1]      true\n"
        "  bob   [0.2, 0.6]  likely false\n"
        "  dora  [0.8, 1]    likely true\n"
    )
    assert session.says("Infected(X)") == wanted
    assert session.says("query Infected(X)  # again") == wanted
    assert session.says("Infected(anna) & ~Infected(bob)") == "  [0.4, 0.8]  likely true\n"


def test_facts_and_undo(triage: Path) -> None:
    session = Session(triage)
    before = session.says("Infected(X)")
    assert session.says("fact Infected(emil)") == ""
    assert ["emil", "[1, 1]      true"] in session.rows("Infected(X)")
    assert session.says("fact Contact(emil, zoe)") == ""  # an entity that is new
    assert session.says("fact age(emil) in [30, 40]") == ""
    assert session.says("age(emil)") == "  [30, 40]  number\n"
    assert ["zoe", "[0.8, 1]    likely true"] in session.rows("Infected(X)")
    assert session.says("undo") == "undone: fact age(emil) in [30, 40]\n"
    assert session.says("undo") == "undone: fact Contact(emil, zoe)\n"
    assert session.says("undo") == "undone: fact Infected(emil)\n"
    assert session.says("Infected(X)") == before
    assert session.codes("undo") == ["nothing-to-undo"]


def test_an_empty_start() -> None:
    session = Session()
    assert session.codes("Bird(X)") == ["unknown-predicate"]
    assert session.says("fact Bird(tweety)") == ""
    assert session.says("rule fly: Bird(X) -> Flies(X)") == ""
    assert session.rows("Flies(X)") == [["tweety", "[1, 1]  true"]]
    assert (
        session.says("fact A(x1)\nfact A(x2)\nquery A(X)")
        == "  X   bounds  state\n  x1  [1, 1]  true\n  x2  [1, 1]  true\n"
    )


def test_assumptions_replace_stated_facts(triage: Path) -> None:
    session = Session(triage)
    session.says("Infected(X)")
    assert session.codes("assume Infected(anna) trust 0.3") == ["bad-trust"]  # an assumption is not repaired
    told = session.says("assume ~Infected(anna)")
    assert told == "assumed: Infected(anna) [0, 0]; `undo` takes it back\n"
    assert session.rows("Infected(X)") == [["anna", "[0, 0]      false"], ["bob", "[0.2, 0.6]  likely false"]]
    session.says("assume fact Infected(anna) = 0.5")  # in place of the first
    assert session.rows("Infected(X)")[0] == ["anna", "[0.5, 0.5]  unknown"]
    session.says("fact Infected(dora)")  # what is assumed stays so
    assert [row[1] for row in session.rows("Infected(X)")] == [
        "[0.5, 0.5]  unknown",
        "[0.2, 0.6]  likely false",
        "[1, 1]      true",
    ]
    for _ in range(3):
        session.says("undo")
    assert session.rows("Infected(X)")[0] == ["anna", "[1, 1]      true"]


def test_why(triage: Path) -> None:
    session = Session(triage)
    session.says("fact Infected(emil)")
    assert session.says("why") == "no contradictions\n"
    text = session.says("why Infected(emil)")
    assert text.startswith("Infected(emil)  [1, 1]  true\n")
    assert "fact, <shell>:1" in text
    assert f"rule spread, {triage}:6" in session.says("why Infected(dora)")
    assert "Infected(bob) is >= 0.2; why not 1?" in session.says("whynot Infected(bob)")
    assert "Infected(bob) is <= 0.6; why not 0?" in session.says("whynot ~Infected(bob)")


def test_contradictions_are_reported_once(triage: Path) -> None:
    session = Session(triage)
    session.says("fact ~Infected(anna)")
    told = "1 contradiction; `why` alone shows what meets\n"
    assert session.says("Infected(bob)").endswith(told)
    assert told not in session.says("Infected(bob)")
    text = session.says("why")
    assert f"fact Infected(anna)   {triage}:4" in text
    assert "fact ~Infected(anna)   <shell>:1" in text


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("Infekted(X)", "unknown-predicate", 1),
        ("query  Infekted(X)", "unknown-predicate", 8),
        ("Infected(X) & Contact(X)", "wrong-arity", 15),
        ("why   Infected(X)", "free-variable", 7),
        ("why Infekted(anna)", "unknown-predicate", 5),
        ("whynot ~age(anna)", "no-atom", 9),
        ("fact Infected(X)", "variable-in-fact", 15),
        ("fact Infected(anna", "unclosed-group", 14),
        ("fact Infected(anna) = 3", "truth-out-of-range", 23),
        ("fact age(anna)", "number-without-value", 6),
        ("assume age(anna)", "number-without-value", 8),
        ("assume Infected(X)", "variable-in-fact", 17),
        ("assume  Infekted(anna)", "unknown-predicate", 9),
        ("assume Infected(anna", "unclosed-group", 16),
        ("rule Infected(X) -> Ill(Anna)", "variable-like-entity", 25),
    ],
)
def test_findings_have_the_positions_of_the_input(text: str, code: str, column: int, triage: Path) -> None:
    session = Session(triage)
    session.says("Infected(anna)")
    before = session.state.kb
    reply = session.reply(text)
    place = [(each.code, each.path, each.line, each.column) for each in reply.findings if each.severity == "error"]
    assert place[0] == (code, "<shell>", 2, column)
    assert f"\n    {text}\n" in reply.findings[0].render()
    assert session.state.kb is before  # and nothing has changed


def test_the_hint_for_an_undeclared_number_works(triage: Path) -> None:
    session = Session(triage)
    (found,) = session.reply("assume weight(anna) = 62").findings
    assert found.hint == "declare it first: `number weight(entity)`"
    session.says("number weight(entity)")
    assert "62" in session.says("assume weight(anna) = 62")
    (found,) = session.reply("assume Cough(anna) = 0.5").findings
    assert "`fact Cough(anna) = 0.5` states it for good" in found.hint


def test_all_errors_of_an_input_are_reported(triage: Path) -> None:
    assert Session(triage).codes("fact Infected(X)\nfact Infected(a, b)\nrule Nope(X) -> Contact(X)") == [
        "variable-in-fact",
        "wrong-arity",
        "unknown-predicate",
        "wrong-arity",
    ]


@pytest.mark.parametrize(
    "text", ["whynot", "assume", "save", "facts", "reload x", "limit -1", "limit many", "undo 3", "save x.csv"]
)
def test_wrong_commands(text: str, triage: Path) -> None:
    reply = Session(triage).reply(text)
    assert reply.failed
    assert reply.text == ""


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("sav x", "did you mean `save`?"),
        ("select everything", "`help` lists what can be typed here"),
    ],
)
def test_input_that_is_neither_command_nor_formula(text: str, hint: str, triage: Path) -> None:
    (finding,) = Session(triage).reply(text).findings
    assert finding.hint == hint


def test_hints_name_commands_that_there_are(triage: Path) -> None:
    session = Session(triage)
    session.says("fact age(anna) = 3")
    (finding,) = session.reply("whynot age(anna)").findings
    assert finding.hint.startswith("`explain` shows")
    assert session.says("explain age(anna)") == session.says("why age(anna)")


def test_limit_help_and_the_end(triage: Path) -> None:
    session = Session(triage)
    assert session.says("limit 1") == ""
    assert session.says("Infected(X)").endswith("true\n  and 2 more; `limit 0` shows all\n")
    session.says("fact Infected(zoe)")
    session.says("limit 0")
    session.says("undo")
    assert len(session.rows("Infected(X)")) == 3  # a limit is no change that is undone
    assert "whynot P(a)" in session.says("help")
    assert session.says("  # nothing") == ""
    assert session.reply("quit").ended
    assert session.reply("exit").ended


def test_rules_and_facts_are_listed_with_their_places(triage: Path) -> None:
    session = Session(triage)
    where = str(triage)
    session.says("axiom age(X) > 18 -> Adult(X)")
    spread = "rule spread: Infected(X) & Contact(X, Y) -> Infected(Y) in [0.8, 1]"
    adult = "axiom age(X) > 18 -> Adult(X)"
    assert session.says("rules").splitlines() == [f"{spread}   {where}:6", f"{adult:<{len(spread)}}   <shell>:1"]
    assert session.says("rules Adult") == f"{adult}   <shell>:1\n"
    assert session.says("facts age") == "no facts\n"
    table = triage.parent / "contacts.csv"
    assert session.says("facts Contact").split() == [
        *("fact", "Contact(anna,", "dora)", f"{table}:2", "fact", "Contact(bob,", "emil)", f"{table}:3"),
    ]
    session.says("fact age(dora) = 80")
    assert session.says("facts age") == "fact age(dora) = 80   <shell>:6\n"
    session.says("limit 1")
    assert session.says("limit") == "limit 1\n"
    assert session.says("facts Contact").splitlines()[1:] == ["… and more; `limit 0` shows all"]
    wrong = (("facts", "no-predicate"), ("facts Infectd", "unknown-predicate"), ("rules X", "unknown-predicate"))
    for text, code in wrong:
        assert [each.code for each in session.reply(text).findings] == [code]


def test_reload_reads_the_file_and_its_tables_again(triage: Path) -> None:
    session = Session(triage)
    session.says("fact Old(emil)")
    session.says("assume Infected(bob) = 0.6")
    (triage.parent / "contacts.csv").write_text("a,b\nanna,emil\n")
    triage.write_text(TRIAGE + "predicate Old(person)\nrule risk: Infected(X) & Old(X) -> AtRisk(X)\n")
    assert session.says("reload") == f"read again: {triage}\n"
    assert session.says("AtRisk(X)").split() == ["X", "bounds", "state", "emil", "[0.8,", "1]", "likely", "true"]
    assert "[0.6, 0.6]" in session.says("Infected(bob)")
    triage.write_text("predicat\n")
    assert [each.severity for each in session.reply("reload").findings] == ["error"]  # and nothing is lost
    assert "emil" in session.says("AtRisk(X)")
    assert session.says("undo") == "undone: reload\n"
    assert [each.code for each in session.reply("AtRisk(X)").findings] == ["unknown-predicate"]
    assert [each.code for each in Session().reply("reload").findings] == ["no-file"]


def test_propositions_may_be_named_as_commands_are() -> None:
    session = Session()
    session.says("fact help")
    session.says("fact save = 0.7")
    assert session.says("save & help") == "  [0.7, 0.7]  likely true\n"
    assert session.says("query help") == "  [1, 1]  true\n"


# --- saving -----------------------------------------------------------------------------------------------------------


def answers(path: Path, query: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(["run", str(path), "-q", query, "--format", "json"]) == 0
    return json.dumps(json.loads(capsys.readouterr().out)["queries"][0]["answers"])


def test_what_is_saved_gives_the_same_answers(triage: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = Session(triage)
    inputs = ("fact Infected(emil) in [0.1, 1]  # seen", "predicate Old(person)\nfact Old(dora)", "fact age(zoe) = 3")
    for text in (*inputs, "rule r:\n  Infected(X) & Old(X) -> Ill(X)", "assume Infected(bob) = 0.5"):
        session.says(text)
    target = triage.parent / "sub" / "saved.lnn"
    target.parent.mkdir()
    assert session.says(f'save "{target}"') == f"written to {target}\n"
    for query in ("Infected(X)", "Ill(X)", "age(X)"):
        known = [each.as_dict() for each in session.state.kb.ask(query)]
        assert answers(target, query, capsys) == json.dumps(known)
    assert main(["check", str(target)]) == 0
    again = Session(target)  # and is a session's file again
    again.says("fact Old(anna)")
    assert ["anna", "[1, 1]    true"] in again.rows("Ill(X)")


def test_assumptions_are_saved_in_place_of_facts(triage: Path) -> None:
    session = Session(triage)
    session.says("assume ~Infected(anna)")
    target = triage.parent / "saved.lnn"
    session.says(f"save {target}")
    assert "fact Infected(anna)" not in target.read_text() and "fact ~Infected(anna)" in target.read_text()
    session.says("undo")
    target.unlink()
    session.says(f"save {target}")
    assert target.read_text() == TRIAGE


def test_facts_are_taken_back_and_replaced(triage: Path) -> None:
    session = Session(triage)
    assert session.codes("retract Infected(X)") == ["no-atom"] and session.codes("retract") == ["no-atom"]
    assert session.codes("retract Infected(nobody)") == ["no-fact"]
    assert session.codes("replace Nothing(a)") == ["unknown-predicate"] and session.codes("replace") == ["no-fact"]
    session.says("retract Infected(anna)")
    assert "unknown" in session.says("Infected(anna)")
    session.says("rule Infected(X) -> Ill(X)")  # the program is checked again
    session.says("replace Infected(anna) = 0.3")
    assert "[0.3, 1]" in session.says("Ill(anna)")
    session.says("reload")
    assert "0.3" in session.says("Infected(anna)")
    target = triage.parent / "saved.lnn"
    session.says(f"save {target}")
    assert target.read_text().count("Infected(anna)") == 1 and "fact Infected(anna) = 0.3" in target.read_text()
    for _ in range(3):
        session.says("undo")
    assert "unknown" in session.says("Infected(anna)")
    session.says("undo")
    assert "true" in session.says("Infected(anna)")


def test_a_table_is_not_overwritten(triage: Path) -> None:
    table = triage.parent / "contacts.lnn"
    table.write_text("fact P(a)\n")
    session = Session(triage)
    session.says('import "contacts.lnn"')
    assert session.codes(f"save {table}") == ["overwritten-source"]
    assert session.codes(f"save {triage.parent / 'nowhere' / 'x.lnn'}") == ["unwritable-file"]


def test_what_was_added_is_never_lost_by_the_knowledge_base(triage: Path) -> None:
    session = Session(triage)
    session.says("fact Infected(zoe)")
    session.state.kb.save(triage.parent / "x.lnn")
    assert (triage.parent / "x.lnn").read_text() == TRIAGE + "fact Infected(zoe)\n"


# --- inputs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "inputs"),
    [
        (["A(X)", "B(X)"], ["A(X)", "B(X)"]),
        (["A(X) &  # and", "  B(X)", "C(X)"], ["A(X) &  # and\n  B(X)", "C(X)"]),
        (["A(X) &", "", "B(X)"], ["A(X) &", "B(X)"]),
        (["A(", "fact B(a)"], ["A(", "fact B(a)"]),
        (["A(", "why B(a)"], ["A(", "why B(a)"]),
        (["A(X) |"], ["A(X) |"]),
    ],
)
def test_inputs_of_several_lines(lines: list[str], inputs: list[str]) -> None:
    rest = iter(lines)

    def next_line(_goes_on: bool) -> str:
        line = next(rest, None)
        if line is None:
            raise EOFError
        return line

    found: list[str] = []
    pending: str | None = None
    with suppress(EOFError):
        while len(found) <= len(inputs):
            text, pending = whole_input(next_line, pending)
            found.append(text)
    assert found == inputs


@pytest.mark.parametrize("typed", ["?- Contact(anna, X)", "?- Contact(anna, X).", "  ?-Contact(anna, X)"])
def test_a_query_of_prolog(typed: str, triage: Path) -> None:
    """It was a minus and a learnable value."""
    session = Session(triage)
    (found,) = session.reply(typed).findings
    said = found.hint.split("`")[1]
    assert (found.code, said) == ("query-mark", "query Contact(anna, X)")
    assert [row[0] for row in session.rows(said)] == ["dora"]


@pytest.mark.parametrize("typed", ["select * from Contact", "SELECT X FROM Contact WHERE Y = dora"])
def test_a_query_of_sql(typed: str, triage: Path) -> None:
    assert Session(triage).codes(typed) == ["sql-statement"]


def test_a_state_is_renewed_after_an_interrupt(triage: Path) -> None:
    """Nothing of an inference that an exception has ended is read again."""
    from lnnkit.engine.inference_run import RoundReport

    class Interrupts:
        def after_round(self, report: RoundReport, /) -> bool:
            raise KeyboardInterrupt

    session = Session(triage)
    session.says("assume Infected(bob) = 0.5")
    with pytest.raises(KeyboardInterrupt), session.state.kb.watched(Interrupts()):
        session.says("Infected(X)")
    session.state = renewed(session.state)
    assert [row[0] for row in session.rows("Infected(X)")] == ["anna", "bob", "dora", "emil"]
