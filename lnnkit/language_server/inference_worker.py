"""The process that infers for the language server, so that inference can be ended at any time.

It reads one request a line on standard input and answers each with one line on standard output, both JSON objects.
The first line that it writes says that it is ready. A request has ``key`` (the program is loaded anew where that
changes), ``text``, ``path``, ``base`` and ``query``; the answer has ``bounds`` and ``state``, or ``error``.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from lnnkit.errors import Error

if TYPE_CHECKING:
    from lnnkit.kb import KnowledgeBase


class Answering:
    """Keeps the knowledge base of the last request."""

    def __init__(self) -> None:
        self._kb: tuple[str, KnowledgeBase] | None = None

    def answer(self, request: dict[str, str]) -> dict[str, str]:
        """The answer to a request."""
        from lnnkit.answer_table import shown_bounds, shown_state

        try:
            answer = self._loaded(request).ask(request["query"])[0]
        except Error as problem:
            return {"error": problem.diagnostics[0].message}
        except Exception as problem:  # an editor must not lose its server to a defect elsewhere
            return {"error": f"lnnkit failed: {type(problem).__name__}"}
        return {"bounds": shown_bounds(answer), "state": shown_state(answer)}

    def _loaded(self, request: dict[str, str]) -> KnowledgeBase:
        from lnnkit import kb

        if self._kb is None or self._kb[0] != request["key"]:
            self._kb = None
            loaded = kb.loads(request["text"], request["base"], request["path"])
            loaded.replace_queries([])  # so that no more is inferred than what is asked
            self._kb = request["key"], loaded
        return self._kb[1]


def main() -> None:
    """Serve until standard input ends."""
    reading, writing = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what others print is no answer
    answering = Answering()
    answering.answer({"key": "", "text": "fact A(a)", "path": "", "base": ".", "query": "A(a)"})  # imports the engine
    writing.write(b'{"ready": true}\n')
    writing.flush()
    for line in reading:
        writing.write(json.dumps(answering.answer(json.loads(line))).encode() + b"\n")
        writing.flush()


if __name__ == "__main__":
    main()
