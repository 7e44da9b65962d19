"""The language server's end of the process that infers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Callable

LIMIT = 2**20  # bytes of one answer


class InferenceClient:
    """Asks one thing at a time of a process that is started where it is first needed. To cancel is to end the process:
    inference can be in the middle of a long round."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._starting: asyncio.Task[asyncio.subprocess.Process] | None = None
        self._asking = False

    async def ready(self) -> asyncio.subprocess.Process:
        """The process, once it has imported what it needs."""
        if self._process is not None and self._process.returncode is None:
            return self._process
        if self._starting is None:
            self._starting = asyncio.create_task(self._started())
        return await asyncio.shield(self._starting)

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

    def cancel(self) -> None:
        """End what is being asked, if anything is."""
        if self._asking:
            self.end()

    def end(self) -> None:
        """End the process; the next question starts another."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()

    async def _started(self) -> asyncio.subprocess.Process:
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "lnnkit.language_server.inference_worker"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=LIMIT,
            )
            self._process = process
            assert process.stdout is not None
            await process.stdout.readline()
            return process
        finally:
            self._starting = None
