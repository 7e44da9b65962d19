"""A client of the Language Server Protocol that talks to ``lnnkit lsp`` on its standard input and output."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TIMEOUT = 60.0  # seconds; the machine may be busy


class Client:
    """Sends requests and keeps what the server says on its own."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lnnkit", "lsp"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._number = 0
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._said: queue.Queue[dict[str, Any]] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def request(self, method: str, params: object = None) -> Any:
        """The result of a request; a refusal as ``{"error": message}``."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        answer = self._answers.get(timeout=TIMEOUT)
        assert answer["id"] == self._number
        return {"error": answer["error"]["message"]} if "error" in answer else answer["result"]

    def notify(self, method: str, params: object = None) -> None:
        self._send({"method": method, "params": params})

    def diagnostics(self, uri: str) -> list[dict[str, Any]]:
        """The next that the server publishes about a document."""
        while True:
            said = self._said.get(timeout=TIMEOUT)
            if said["method"] == "textDocument/publishDiagnostics" and said["params"]["uri"] == uri:
                return said["params"]["diagnostics"]

    def end(self) -> tuple[int, str]:
        """Say goodbye: the exit code, and what was said on standard error."""
        self.request("shutdown")
        self.notify("exit")
        code = self.process.wait(TIMEOUT)
        assert self.process.stderr is not None
        return code, self.process.stderr.read().decode()

    def close(self) -> None:
        """End the server, however far it is."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while head := stream.readline():
            while (line := stream.readline()).strip():
                head += line
            length = next(int(line.split(b":")[1]) for line in head.splitlines() if line.startswith(b"Content-Len"))
            message = json.loads(stream.read(length))
            (self._said if "method" in message else self._answers).put(message)
