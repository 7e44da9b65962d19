"""A column as entities: distinct NFC texts and, for each row, which one stands there."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from lnnkit.data.arrow import int32s, nulls, one, strings, text_buffers, view
from lnnkit.data.grid import Unreadable
from lnnkit.data.objects import entities_in

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from lnnkit.data.grid import Column

SMALL = 20_000  # below this many distinct values plain Python beats importing pyarrow.compute


@dataclass(frozen=True, slots=True)
class Texts:
    """``codes`` (int32) indexes ``values``, distinct texts; -1 where the cell is empty or null. ``faults`` says by
    code why a value is no entity; its text is then meaningless."""

    codes: np.ndarray
    values: pa.StringArray
    faults: dict[int, str] = field(default_factory=dict)

    def fault(self, row: int) -> str | None:
        """Why the row holds no entity, if so."""
        code = int(self.codes[row])
        return "is empty" if code < 0 else self.faults.get(code)

    def wrong(self) -> np.ndarray:
        """The rows that hold no entity."""
        import numpy as np

        mask = self.codes < 0
        return mask | np.isin(self.codes, list(self.faults)) if self.faults else mask

    def equal(self, text: str) -> np.ndarray:
        """The rows that hold ``text``; the empty text is that of empty and null cells."""
        import numpy as np

        if not text:
            return self.codes < 0
        if len(self.values) <= SMALL:
            found = [code for code, value in enumerate(self.values.to_pylist()) if value == text]
        else:
            found = [code for code in [self.values.index(text).as_py()] if code >= 0]
        found = [code for code in found if code not in self.faults]
        return self.codes == found[0] if found else np.zeros(len(self.codes), bool)


def texts_of(column: Column, title: str) -> Texts:
    """Texts as they are under NFC, integers and decimals without a fraction in decimal, booleans as ``true`` and
    ``false``, days as ``2024-01-15``. ``Unreadable`` for any other type: a float, a time or a decimal fraction has
    several spellings, so as an entity it would be several."""
    import numpy as np
    import pyarrow as pa

    if isinstance(column, list):
        distinct, codes, faults = entities_in(column)
        return Texts(codes, strings(distinct), faults)
    if pa.types.is_null(column.type):
        return Texts(np.full(len(column), -1, np.int32), strings([]))
    coded = pa.types.is_dictionary(column.type)
    kind = column.type.value_type if coded else column.type
    spelling = _spelling(kind, title)
    if not coded:
        # in one piece first: Arrow's encoding of several shares a growing dictionary that is slow to unify
        if str(kind) == "string_view" or (spelling != (pa.string(),) and column.nbytes >= 2**31):
            column = column.cast(pa.large_binary())
        column = one(column).dictionary_encode()
    array = cast("pa.DictionaryArray", one(column))
    indices = array.indices if array.indices.type == pa.int32() else array.indices.cast(pa.int32())
    codes = view(indices, np.int32)
    if indices.null_count:
        codes = np.where(nulls(indices), np.int32(-1), codes)
    values = array.dictionary
    for step in spelling or ((pa.binary(),) if pa.types.is_large_binary(values.type) else ()):
        values = values.cast(step)
    return _cleaned(codes, values if pa.types.is_string(values.type) else values.view(pa.string()))


def _spelling(kind: pa.DataType, title: str) -> tuple[pa.DataType, ...]:
    """The casts that bring a type to text, or to bytes that need not be UTF-8 yet."""
    import pyarrow as pa

    types = pa.types
    if types.is_string(kind) or types.is_binary(kind):
        return ()
    if types.is_large_string(kind) or types.is_large_binary(kind) or str(kind) in ("string_view", "binary_view"):
        return (pa.binary(),)
    if types.is_integer(kind) or types.is_boolean(kind) or (types.is_decimal(kind) and kind.scale == 0):
        return (pa.string(),)
    if types.is_date(kind):
        return (pa.date32(), pa.string())
    hint = "entities are text or whole numbers: cast the column to text"
    if types.is_floating(kind):
        hint = "cast the column to whole numbers or to text (in pandas, gaps turn integers into floats: use Int64)"
    raise Unreadable("bad-column", f"{title} holds {kind}, which cannot name entities", hint)


def _cleaned(codes: np.ndarray, values: pa.Array) -> Texts:
    """Empty texts to -1, texts to NFC, the undecodable noted."""
    import numpy as np
    import pyarrow as pa

    if values.null_count:
        codes = _mapped(codes, dict.fromkeys(np.flatnonzero(nulls(values)).tolist(), -1), len(values))
        values = values.fill_null("")
    offsets, data = text_buffers(values)
    empty = np.flatnonzero(np.diff(offsets) == 0).tolist()
    if empty:
        codes = _mapped(codes, dict.fromkeys(empty, -1), len(values))
    if not len(data) or int(data.max()) < 128:
        return Texts(codes, values)
    raw = cast("list[bytes]", values.view(pa.binary()).to_pylist())
    texts, faults, first, moved = [], {}, {}, {}
    for code, piece in enumerate(raw):
        try:
            text = unicodedata.normalize("NFC", piece.decode())
        except UnicodeDecodeError as error:
            faults[code] = f"is not UTF-8: byte 0x{piece[error.start]:02x} in {piece[:40].decode(errors='replace')!r}"
            texts.append("")
            continue
        texts.append(text)
        if first.setdefault(text, code) != code:
            moved[code] = first[text]
    return Texts(_mapped(codes, moved, len(texts)) if moved else codes, strings(texts), faults)


def outer_blanks(texts: Texts) -> np.ndarray:
    """The codes of values that begin or end in a space, tab or line break."""
    import numpy as np

    offsets, data = text_buffers(texts.values)
    filled = np.flatnonzero(np.diff(offsets) > 0)
    blank = np.zeros(256, bool)
    blank[[9, 10, 13, 32]] = True
    return filled[blank[data[offsets[filled]]] | blank[data[offsets[filled + 1] - 1]]]


def compacted(texts: Texts, keep: np.ndarray | None) -> pa.DictionaryArray:
    """The kept rows as a dictionary-encoded array whose dictionary holds what they use and nothing else."""
    import numpy as np
    import pyarrow as pa

    codes = texts.codes if keep is None else texts.codes[keep]
    values = texts.values
    used = np.zeros(len(values), bool)
    used[codes] = True
    if not used.all():
        codes = (np.cumsum(used) - 1).astype(np.int32)[codes]
        chosen = np.flatnonzero(used)
        if len(values) <= SMALL:
            held = cast("list[str]", values.to_pylist())
            values = strings([held[code] for code in chosen.tolist()])
        else:
            values = values.take(int32s(chosen))
    return pa.DictionaryArray.from_arrays(int32s(codes), values)


def _mapped(codes: np.ndarray, moved: dict[int, int], size: int) -> np.ndarray:
    import numpy as np

    table = np.append(np.arange(size, dtype=np.int32), np.int32(-1))  # the last entry answers for -1
    table[list(moved)] = list(moved.values())
    return table[codes]
