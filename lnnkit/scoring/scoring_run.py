"""One run: units are scored in this process or by workers, and their parts are joined in order."""

from __future__ import annotations

import os
import pickle
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.data.files import Unreadable
from lnnkit.errors import DataError, Error
from lnnkit.rows.scorer import RowScorer
from lnnkit.rows.strip_facts import KeyRange
from lnnkit.scoring.output_files import BadRow, OutputParts, Summary, bad_rows_file, output_file, plan_of, require_known
from lnnkit.scoring.row_streams import RowStream, WorkUnit, sheets
from lnnkit.scoring.workers import OutputLock, begin, prepared
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    import pyarrow as pa

_AHEAD = 2  # units that wait for each worker


@dataclass
class Scored:
    """How far a run has come: the ``rows`` that are decided, those ``left_out``, how many parts an earlier run had
    left, and for each query how many rows have each state. Keys are ``scattered`` if they do not ascend and there are
    several ``batches``: repeated keys were then looked for within each batch only."""

    rows: int = 0
    left_out: int = 0
    resumed: int = 0
    states: dict[str, Counter[str]] = field(default_factory=dict)
    batches: int = 0
    scattered: bool = False

    def add(self, summary: Summary) -> None:
        """Count the rows of a part."""
        self.rows += summary.rows
        self.batches += summary.batches
        self.left_out += len(summary.bad)
        for name, counted in summary.states.items():
            self.states.setdefault(name, Counter()).update(counted)


def score(
    scorer: RowScorer,
    stream: RowStream,
    output: Path,
    *,
    workers: int = 1,
    bad_rows: Path | None = None,
    listen: Callable[[Scored], None] = lambda _: None,
) -> Scored:
    """Decide the rows of a stream, in their order, into a file. Parts are kept beside it until it is complete; a later
    run of the same program and rows continues from them. ``listen`` is called after each unit.

    Raises `DataError` for a bad row, unless ``bad_rows`` takes them, and for a stream that cannot be read; `Error`
    where nothing more can be written, another run is writing the output, or a worker dies.
    """
    identity = None
    try:
        require_known(output)
        output = Path(os.path.realpath(output)) if output.is_symlink() else output  # a link stays
        identity = stream.identity
        return _scored(scorer, stream, identity, output, workers, bad_rows, listen)
    except (Unreadable, DataError) as problem:
        raise _explained(problem, stream, identity) from None
    except BrokenProcessPool:
        message = "a worker ended before its rows were decided: it was killed, or there was no memory left"
        hint = f"{_kept(stream)}run it again, with fewer workers where memory is short"
        raise Error([Diagnostic("lost-worker", message, hint)]) from None
    except OSError as problem:
        reason = os.strerror(problem.errno) if problem.errno else str(problem)
        place = bad_rows if problem.filename == str(bad_rows) else output
        message = f'"{place}" cannot be written: {reason}'
        raise Error([Diagnostic("unwritable-file", message, f"{_kept(stream)}make room, and run it again")]) from None


def _kept(stream: RowStream) -> str:
    """A remark on what a failed run has kept; nothing if the stream is standard input, which cannot be read again."""
    return "" if stream.standard_input is not None else "what was decided is kept: "


def _scored(
    scorer: RowScorer,
    stream: RowStream,
    identity: str | None,
    output: Path,
    workers: int,
    bad_rows: Path | None,
    listen: Callable[[Scored], None],
) -> Scored:
    """Score a stream of this ``identity``, alone."""
    parts, plan, lenient = OutputParts(output), None, bad_rows is not None
    with parts.lock as lock:
        try:
            if identity is not None:
                plan = plan_of(scorer, identity, lenient=lenient)
            scorer = _with_times(scorer, stream)
            parts, resumed = parts.prepared(plan)
            scored = Scored(resumed=resumed)
            job = _Job(scorer, parts, lenient=lenient)
            with ExitStack() as stack:
                whole = stack.enter_context(output_file(output, parts.folder))
                left = None if bad_rows is None else stack.enter_context(bad_rows_file(bad_rows))
                keys = KeyRange()
                for number, unit in _in_order(job, stream, workers, lock):
                    summary = parts.summary(number)
                    if keys.meets(summary.keys):
                        job.do(number, unit, keys)
                        summary = parts.summary(number)
                    keys = keys.then(summary.keys)
                    whole.append(parts.path(number))
                    if left is not None:
                        left(summary.bad)
                    scored.add(summary)
                    listen(scored)
                _require_unchanged(stream, identity)
                scored.scattered = not keys.rising and scored.batches > 1
                if not scored.rows and not scored.left_out:
                    raise Unreadable("no-rows", "the stream has no rows")
        except BaseException:
            if plan is None:  # no later run continues from them
                parts.remove()
            else:
                parts.remove_empty()
            raise
        parts.remove()
    return scored


def _with_times(scorer: RowScorer, stream: RowStream) -> RowScorer:
    """The scorer, told which dates of a stream have a time of day: the stream is read twice where that matters, and if
    it can be."""
    if stream.standard_input is not None or not scorer.model.counts_time:
        return scorer
    read = (scorer.timed(*sheet) for unit in stream.units() for sheet in sheets(unit, scorer.columns))
    return scorer.with_times(set[str]().union(*read))


def _require_unchanged(stream: RowStream, identity: str | None) -> None:
    """Raises `Unreadable` for a stream that is not what it was when the run began: some rows may be missing."""
    if stream.identity != identity:
        message = f'"{stream.path}" was changed while it was read'
        raise Unreadable("changed-stream", message, "nothing is written: run it again when the stream is whole")


def _explained(problem: Unreadable | DataError, stream: RowStream, identity: str | None) -> DataError:
    """The error of a run, or that the stream has changed if that may have caused it."""
    if identity is not None and not (isinstance(problem, Unreadable) and problem.fault.code == "missing-file"):
        try:
            _require_unchanged(stream, identity)
        except Unreadable as cause:
            problem = cause
    return problem if isinstance(problem, DataError) else DataError([problem.fault])


@dataclass(frozen=True)
class _Job:
    """The work of a worker: score a unit and write its part."""

    scorer: RowScorer
    parts: OutputParts
    lenient: bool

    def do(self, number: int, unit: WorkUnit, before: KeyRange | None = None) -> None:
        """Write a part; a first row whose key is the last one ``before`` is a bad row."""
        self.parts.write(number, self._batches(unit, before or KeyRange()))

    def _batches(self, unit: WorkUnit, keys: KeyRange) -> Iterator[tuple[pa.RecordBatch, list[BadRow]]]:
        for sheet, name in sheets(unit, self.scorer.columns):
            batch, wrong = self.scorer.scored(sheet, name, lenient=self.lenient, once=True)
            batch_keys = KeyRange.of(batch.column(0))
            if keys.meets(batch_keys):
                batch, wrong = self.scorer.scored(sheet, name, lenient=self.lenient, once=True, after=keys.last)
                batch_keys = KeyRange.of(batch.column(0))
            keys = batch_keys if batch_keys.last is not None else keys
            yield batch, sorted(map(BadRow.of, wrong), key=lambda bad: bad.row)


def _in_order(job: _Job, stream: RowStream, workers: int, lock: OutputLock) -> Iterator[tuple[int, WorkUnit]]:
    """Yields the units in order, with their numbers, each once its part is written."""
    if workers == 1:
        for number, unit in enumerate(stream.units()):
            if not job.parts.has(number):
                job.do(number, unit)
            yield number, unit
        return
    context = prepared()
    held = pickle.dumps(job)
    with ProcessPoolExecutor(workers, context, begin, (lock,)) as pool:
        waiting: deque[tuple[int, WorkUnit, Future[None] | None]] = deque()
        try:
            for number, unit in enumerate(stream.units()):
                waiting.append((number, unit, None if job.parts.has(number) else pool.submit(_do, held, number, unit)))
                if len(waiting) >= _AHEAD * workers:
                    yield _awaited(*waiting.popleft())
            while waiting:
                yield _awaited(*waiting.popleft())
        finally:
            for _, _, future in waiting:
                if future is not None:
                    future.cancel()


def _awaited(number: int, unit: WorkUnit, written: Future[None] | None) -> tuple[int, WorkUnit]:
    if written is not None:
        written.result()
    return number, unit


@cache
def _held(job: bytes) -> _Job:
    """The job, unpickled once in each worker."""
    return pickle.loads(job)


def _do(job: bytes, number: int, unit: WorkUnit) -> None:
    _held(job).do(number, unit)
