"""The client of the inference process, on the server's side."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Callable, Sequence

LIMIT = 2**20  # greatest size of an answer in bytes
WORKER = (sys.executable, "-m", "lnnkit.language_server.inference_worker")


class InferenceClient:
    """Sends one request at a time to a process that starts when it is first needed. A request is cancelled by ending
    the process, since inference can be in the middle of a long round."""

    def __init__(self, command: Sequence[str] = WORKER) -> None:
        self._command = command
        self._child: asyncio.subprocess.Process | None = None  # the process that was started last
        self._started: asyncio.Task[asyncio.subprocess.Process] | None = None  # done when that is ready
        self._turn = asyncio.Lock()
        self._asking = False

    async def ready(self) -> asyncio.subprocess.Process:
        """The process, once it has imported what it needs."""
        task = self._started
        if task is None or (task.done() and (task.exception() is not None or task.result().returncode is not None)):
            task = self._started = asyncio.create_task(self._start())
        return await asyncio.shield(task)

    async def ask(self, request: dict[str, str], wanted: Callable[[], bool]) -> dict[str, str] | None:
        """The answer; None where it was cancelled, or was not ``wanted`` any more when its turn came."""
        async with self._turn:
            process = await self.ready()
            if not wanted() or process.stdin is None or process.stdout is None:
                return None
            self._asking = True
            try:
                process.stdin.write(json.dumps(request).encode() + b"\n")
                await process.stdin.drain()
                line = await process.stdout.readline()
            except (ConnectionError, ValueError):
                line = b""
            finally:
                self._asking = False
            return json.loads(line) if line else None

    @property
    def busy(self) -> bool:
        return self._turn.locked()

    def cancel(self) -> None:
        """Cancel the current request, if any; another process starts at once for the next one."""
        if self._asking:
            self.end()
            self._started = asyncio.create_task(self._start())

    def end(self) -> None:
        """End the process; the next request starts another."""
        if self._started is not None and self._started.done():
            self._started = None
        if self._child is not None and self._child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._child.kill()

    async def ended(self, *_: object) -> None:
        """End the process, and wait until it is gone: a loop that closes before complains on standard error."""
        self.end()
        if self._child is not None:
            await self._child.wait()

    async def _start(self) -> asyncio.subprocess.Process:
        pipe, nowhere = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        process = self._child = await asyncio.create_subprocess_exec(
            *self._command, stdin=pipe, stdout=pipe, stderr=nowhere, limit=LIMIT
        )
        assert process.stdout is not None
        await process.stdout.readline()
        return process
