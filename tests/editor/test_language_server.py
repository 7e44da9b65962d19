"""``lnnkit lsp`` over its protocol: one session, from initialize to exit."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lnnkit.cli import main
from tests.editor.protocol_client import TIMEOUT, Client

PEOPLE = "predicate Contact(person, person) closed\nfact Contact(anna, dora)\n"
MAIN = """\
import "people.lnn"
fact Infected(anna)
# Ünïcode 😀 before the names below
fact Known("😀"); rule
rule spread: Known("😀😀") | Infected(X) & Contact(X, Y) -> Infected(Y) in [0.8, 1]
"""
FIXED = MAIN.replace('fact Known("😀"); rule\n', 'fact Known("😀")\n')


@pytest.fixture
def client() -> Iterator[Client]:
    found = Client()
    yield found
    found.close()


def at(text: str, piece: str, nth: int = 0) -> dict[str, int]:
    """The protocol's position of the start of a piece of a text."""
    start = -1
    for _ in range(nth + 1):
        start = text.index(piece, start + 1)
    line = text.count("\n", 0, start)
    before = text[text.rfind("\n", 0, start) + 1 : start]
    return {"line": line, "character": len(before.encode("utf-16-le")) // 2}


def applied(text: str, edits: list[dict[str, Any]]) -> str:
    """The text with the edits of a client, which counts in UTF-16."""
    lines = [line.encode("utf-16-le") for line in text.split("\n")]
    for edit in sorted(edits, key=lambda each: tuple(each["range"]["start"].values()), reverse=True):
        start, end = edit["range"]["start"], edit["range"]["end"]
        assert start["line"] == end["line"]
        line = lines[start["line"]]
        new = edit["newText"].encode("utf-16-le")
        lines[start["line"]] = line[: 2 * start["character"]] + new + line[2 * end["character"] :]
    return "\n".join(line.decode("utf-16-le") for line in lines)


def test_a_session(client: Client, tmp_path: Path) -> None:
    (tmp_path / "people.lnn").write_text(PEOPLE)
    (tmp_path / "main.lnn").write_text(MAIN, encoding="utf-8")
    uri, people = (tmp_path / "main.lnn").as_uri(), (tmp_path / "people.lnn").as_uri()
    document = {"uri": uri}
    editor = {"textDocument": {"rename": {"prepareSupport": True}}}
    started = client.request("initialize", {"processId": None, "rootUri": None, "capabilities": editor})
    capabilities = started["capabilities"]
    assert capabilities["positionEncoding"] == "utf-16"
    assert capabilities["hoverProvider"] and capabilities["documentFormattingProvider"]
    assert capabilities["renameProvider"] == {"prepareProvider": True}
    client.notify("initialized", {})

    client.notify(
        "textDocument/didOpen", {"textDocument": {**document, "languageId": "lnn", "version": 1, "text": MAIN}}
    )
    (found,) = client.diagnostics(uri)
    assert (found["severity"], found["source"]) == (1, "lnnkit")
    assert found["range"]["start"] == at(MAIN, "; rule")
    assert "hint: " in found["message"]

    for version, text in ((2, MAIN + "rule P(\n"), (3, FIXED)):  # the first is half typed
        change = {"textDocument": {**document, "version": version}, "contentChanges": [{"text": text}]}
        client.notify("textDocument/didChange", change)
    while client.diagnostics(uri):  # of the first, if it was looked at before the second came
        pass

    def ask(method: str, piece: str, nth: int = 0, **more: object) -> Any:
        position = at(FIXED, piece, nth)
        return client.request(f"textDocument/{method}", {"textDocument": document, "position": position, **more})

    # an emoji counts two on the line of the rule
    hover = ask("hover", "Infected(X)")["contents"]["value"]
    assert "predicate Infected(person)" in hover and "rule spread" in hover and "1 fact" in hover
    hover, end = "in a moment", time.monotonic() + TIMEOUT
    while "in a moment" in hover and time.monotonic() < end:  # the machine may be busy
        hover = ask("hover", "Infected(anna)")["contents"]["value"]
    assert "`Infected(anna)`: **[1, 1]** true" in hover
    assert ask("hover", "Ünïcode") is None

    (place,) = ask("definition", "Contact(X")
    assert (place["uri"], place["range"]["start"]) == (people, at(PEOPLE, "Contact"))
    (place,) = ask("implementation", "Infected(X)")
    assert (place["uri"], place["range"]["start"]) == (uri, at(FIXED, "Infected(Y)"))
    found = ask("references", "Contact(X", context={"includeDeclaration": True})
    assert [(each["uri"], each["range"]["start"]["line"]) for each in found] == [(uri, 4), (people, 0), (people, 1)]

    edits = ask("rename", "Contact(X", newName="Met")["changes"]
    assert applied(FIXED, edits[uri]) == FIXED.replace("Contact", "Met")
    assert applied(PEOPLE, edits[people]) == PEOPLE.replace("Contact", "Met")
    assert "taken" in ask("rename", "Contact(X", newName="Infected")["error"]
    assert "not a name" in ask("rename", "Contact(X", newName="a b")["error"]

    (edit,) = client.request(
        "textDocument/formatting", {"textDocument": document, "options": {"tabSize": 4, "insertSpaces": True}}
    ) or [{"newText": FIXED}]
    assert edit["newText"] == FIXED
    names = [each["name"] for each in client.request("textDocument/documentSymbol", {"textDocument": document})]
    assert names == ['import "people.lnn"', "spread"]
    labels = {each["label"] for each in ask("completion", "Contact(X")}
    assert {"Contact", "Infected", "Known", "exists", "not"} <= labels

    wrong = FIXED + "query Infcted(anna)\nquery Infected(an"
    change = {"textDocument": {**document, "version": 4}, "contentChanges": [{"text": wrong}]}
    client.notify("textDocument/didChange", change)
    while not (found := client.diagnostics(uri)):
        pass
    line = {"start": at(wrong, "query Infcted"), "end": at(wrong, "query Infcted")}
    asked = {"textDocument": document, "range": line, "context": {"diagnostics": found}}
    fix, declaring = client.request("textDocument/codeAction", asked)
    assert declaring["title"] == "Insert `predicate Infcted(entity)`"
    assert (fix["kind"], fix["title"]) == ("quickfix", "Replace by `Infected`")
    assert applied(wrong, fix["edit"]["changes"][uri]) == wrong.replace("Infcted", "Infected")
    end = {"line": wrong.count("\n"), "character": len("query Infected(an")}
    items = client.request("textDocument/completion", {"textDocument": document, "position": end})
    assert "anna" in {each["label"] for each in items}

    code, said = client.end()
    assert (code, said) == (0, "")


@pytest.mark.parametrize("missing", ["pygls", "pygls.lsp.server"])  # none at all, or one before version 2
def test_without_pygls_one_message(
    missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [each for each in sys.modules if each.split(".")[0] in ("pygls", "lsprotocol")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "lnnkit.language_server.server", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    assert main(["lsp"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    said, hint = err.splitlines()
    assert said.startswith("error[missing-package] the language server needs the package pygls, version 2 or later")
    assert hint == '  hint: install it with: pip install "pygls>=2"'
