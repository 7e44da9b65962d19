"""Copies a table with a column of ids in front (``row1``, ``row2``, ...), for tables whose rows have no names."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from lnnkit.data.source import RawTable, Unreadable, read_source
from lnnkit.draft.survey import Survey


def copy_name(path: Path) -> str:
    """The name of the copy: ``pima.csv`` gives ``pima.ids.csv``; copies are not compressed."""
    stem, kind = path.name.split(".")[0], read_source(path).format
    return f"{stem}.ids.{kind}"


def with_ids(table: Survey) -> bytes:
    """The bytes of a copy of the table with an id column in front. Raises `Unreadable`."""
    raw = read_source(table.path)
    title = "id" if all(column.title.casefold() != "id" for column in table.columns) else "row-id"
    if raw.format == "jsonl":
        objects = [line.strip() for line in raw.data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
        return b"".join(b'{"%s": "row%d", %s\n' % (title.encode(), n, each[1:]) for n, each in enumerate(objects, 1))
    return _parquet(raw, title) if raw.format == "parquet" else _text(raw, table, title)


def _parquet(raw: RawTable, title: str) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    held = pq.read_table(pa.BufferReader(raw.data))
    sink = io.BytesIO()
    pq.write_table(held.add_column(0, title, [[f"row{row + 1}" for row in range(held.num_rows)]]), sink)
    return sink.getvalue()


def _text(raw: RawTable, table: Survey, title: str) -> bytes:
    mark = table.delimiter or ("\t" if raw.format == "tsv" else ",")
    plain = raw.format == "tsv" and mark == "\t"  # without quoting
    try:
        text = raw.data.decode("utf-8-sig")
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark, quoting=csv.QUOTE_NONE if plain else 0)
        filled = [row for row in rows if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise Unreadable("unreadable-file", f'"{raw.path}" cannot be copied: {error}') from None
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, delimiter=mark, lineterminator="\n")
    for number, row in enumerate(filled, start=0 if table.header else 1):
        cells = [title if number == 0 else f"row{number}", *row]
        if plain:
            sink.write(mark.join(cells) + "\n")
        else:
            writer.writerow(cells)
    return sink.getvalue().encode()
