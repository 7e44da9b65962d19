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
    digest = hashlib.sha256()
    texts = [statement.span.source.text for statement in (*model.program.assertions, *model.program.queries)]
    texts += [repr(model.program), repr(model.loads), repr((scorer.alpha, scorer.why)), identity, str(lenient)]
    texts += [PARTS, version("lnnkit")]
    for text in texts:
        digest.update(hashlib.sha256(text.encode()).digest())
    for table in (*model.program.tables, *model.sides):
        for content in _contents(table):
            digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


def _contents(table: FactTable) -> Iterator[bytes | pa.Buffer]:
    """All facts of a table: its text form shows the first of them alone."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    names = pa.record_batch({"name": table.names.arrow})
    with pa.ipc.new_stream(sink, names.schema) as writer:
        writer.write_batch(names)
    yield sink.getvalue()
    yield from (column.codes.tobytes() for column in table.columns)
    yield table.lower.tobytes()
    yield table.upper.tobytes()
