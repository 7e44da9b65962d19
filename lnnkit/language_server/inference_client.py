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
        self._process: asyncio.subprocess.Process | None = None  # the process that is ready
        self._turn = asyncio.Lock()
        self._starting: asyncio.Task[asyncio.subprocess.Process] | None = None
        self._asking = False

    async def ready(self) -> asyncio.subprocess.Process:
        """The process, once it has imported what it needs."""
        if self._process is not None and self._process.returncode is None:
            return self._process
        return await asyncio.shield(self.start())

    def start(self) -> asyncio.Task[asyncio.subprocess.Process]:
        """Start the process, unless it is starting already."""
        if self._starting is None:
            self._starting = asyncio.create_task(self._started())
        return self._starting

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
            self.start()

    def end(self) -> None:
        """End the process; the next request starts another."""
        child, self._process = self._child, None
        if child is not None and child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()

    async def ended(self) -> None:
        """End the process, and wait until it is gone."""
        self.end()
        if self._child is not None:
            await self._child.communicate()

    async def _started(self) -> asyncio.subprocess.Process:
        try:
            process = self._child = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=LIMIT,
            )
            assert process.stdout is not None
            await process.stdout.readline()
            self._process = process
            return process
        finally:
            self._starting = None
