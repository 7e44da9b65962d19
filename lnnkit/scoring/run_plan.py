"""Recognises an earlier run of the same program over the same rows and tables."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from typing import TYPE_CHECKING

from lnnkit.data.table import FactTable
from lnnkit.scoring.unit_parts import PARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from lnnkit.rows.scorer import RowScorer


def plan_of(scorer: RowScorer, identity: str, *, lenient: bool) -> str:
    """A digest of all that the parts of a run depend on: the program, all its facts, the options, the version, and the
    stream of this ``identity``."""
    model = scorer.model
    found = hashlib.sha256()
    told = [each.span.source.text for each in (*model.program.assertions, *model.program.queries)]
    told += [repr(model.program), repr(model.loads), repr((scorer.alpha, scorer.why)), identity, str(lenient)]
    told += [PARTS, version("lnnkit")]
    for text in told:
        found.update(hashlib.sha256(text.encode()).digest())
    for table in (*model.program.tables, *model.sides):
        for each in _contents(table):
            found.update(hashlib.sha256(each).digest())
    return found.hexdigest()


def _contents(table: FactTable) -> Iterator[bytes | pa.Buffer]:
    """All facts of a table: its text form shows the first of them alone."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    names = pa.record_batch({"name": table.names.arrow})
    with pa.ipc.new_stream(sink, names.schema) as writer:
        writer.write_batch(names)
    yield sink.getvalue()
    yield from (each.codes.tobytes() for each in table.columns)
    yield table.lower.tobytes()
    yield table.upper.tobytes()
