"""Ranks many texts: the distinct ones in sorted order, and the rank of each text. Encoding and sorting in one.

Texts are compared eight bytes at a time, as integers; UTF-8 bytes sort as code points do. If all texts differ within
eight bytes (numbers, ``person_000123``), one sort of such integers does all the work, faster than hashing where numpy
sorts with vector instructions; a few sorted lists are merged. Otherwise Arrow hashes the texts, and only the distinct
ones are sorted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from lnnkit.data.arrow import int64s, text_buffers, view

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

# `python -m benchmarks.load_constants` loads 300,000 rows of 200,000 texts in 77 to 97 CPU ms whatever it gives to
# these: 1/8 and 8 times `_BLOCK`, 1/4 and 4 times `_RUNS`, 1/8 and 8 times `_LOOKED_AT`, 1/4 and 4 times `_ROUNDS`, 0.3
# and 0.95 for `_REPEATED`. Only a `_SAMPLE` of 2^19 is slower (121 ms).
_WORD = 8  # bytes of a 64-bit integer
_BLOCK = 1 << 15  # texts at a time: they fit a processor's cache
_SAMPLE = 1 << 16
_RUNS = 16  # up to this many sorted lists are merged
_REPEATED = 0.7  # below this share of distinct texts in a sample, hashing is faster than sorting
_LOOKED_AT = 64  # sample of texts tested for a common prefix
_ROUNDS = 16  # words compared before Arrow's sort takes over


def ranked(texts: pa.Array) -> tuple[np.ndarray, pa.Array]:
    """The rank (int32) of each text among the distinct ones, and these, sorted by their bytes.

    ``texts`` are strings or binary without nulls; the distinct ones have the same type.
    """
    keys = None if _repeats(texts) else keys_of(texts)
    return by_hashing(texts) if keys is None else by_keys(texts, keys)


def by_hashing(texts: pa.Array) -> tuple[np.ndarray, pa.Array]:
    """As `ranked`, for any texts."""
    import numpy as np

    coded = cast("pa.DictionaryArray", texts.dictionary_encode())
    order = order_of(coded.dictionary)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return place.take(view(coded.indices, np.int32)), taken(coded.dictionary, order)


def by_keys(texts: pa.Array, keys: np.ndarray) -> tuple[np.ndarray, pa.Array]:
    """As `ranked`, with the integer keys of `keys_of`."""
    import numpy as np

    runs = 1 + np.count_nonzero(keys[1:] < keys[:-1])
    order = np.argsort(keys, kind="stable" if runs <= _RUNS else None)  # a stable sort merges sorted runs
    first = _firsts(keys.take(order))
    codes = np.empty(len(keys), np.int32)
    codes[order] = np.cumsum(first, dtype=np.int32) - np.int32(1)
    return codes, taken(texts, order[first])


def taken(texts: pa.Array, rows: np.ndarray) -> pa.Array:
    """The texts of some rows."""
    return texts.take(int64s(rows))


def order_of(texts: pa.Array) -> np.ndarray:
    """The permutation that sorts distinct texts (strings or binary without nulls) by their bytes."""
    import numpy as np

    offsets, data = _padded(texts)
    if _holds_zero(data):
        return _by_arrow(texts)
    at, ends = offsets[:-1] + len(_shared_start(texts)), offsets[1:]
    words = _words(data, at, ends)
    order = np.argsort(words)
    keys = words.take(order)
    places = np.arange(len(order))
    for step in range(1, _ROUNDS):
        first = _firsts(keys)
        tied = np.flatnonzero(~(first & np.append(first[1:], True)))
        if not len(tied):
            return order
        places, group = places.take(tied), np.cumsum(first[tied], dtype=np.uint64)
        rows = order.take(places)
        words = _words(data, at.take(rows) + step * _WORD, ends.take(rows))
        keys = (group << np.uint64(32)) | _dense(words)
        resorted = np.argsort(keys)
        order[places] = rows.take(resorted)
        keys = keys.take(resorted)
    return _by_arrow(texts)


def _repeats(texts: pa.Array) -> bool:
    """Whether texts repeat often, judged by a sample from the middle."""
    size = min(len(texts), _SAMPLE)
    sample = cast("pa.DictionaryArray", texts.slice((len(texts) - size) // 2, size).dictionary_encode())
    return len(sample.dictionary) < _REPEATED * size


def keys_of(texts: pa.Array) -> np.ndarray | None:
    """Integers that compare as the texts do; None if eight bytes do not distinguish them."""
    offsets, data = _padded(texts)
    longest = int((offsets[1:] - offsets[:-1]).max(initial=0))
    skipped = len(_shared_start(texts)) if longest > _WORD else 0
    if longest - skipped > _WORD or _holds_zero(data):
        return None
    return _words(data, offsets[:-1] + skipped, offsets[1:])


def _shared_start(texts: pa.Array) -> bytes:
    """The common prefix of all texts; empty if a sample shows none."""
    from pyarrow.compute import MatchSubstringOptions, call_function

    sample = [texts[row].as_buffer().to_pybytes() for row in range(0, len(texts), len(texts) // _LOOKED_AT + 1)]
    low, high = min(sample, default=b""), max(sample, default=b"")
    unlike = (place for place, (one, other) in enumerate(zip(low, high, strict=False)) if one != other)
    start = low[: next(unlike, min(len(low), len(high)))]
    if not start:
        return b""
    same = call_function("starts_with", [texts], MatchSubstringOptions(start))
    return start if same.true_count == len(texts) else b""


def _padded(texts: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """The offsets, and their bytes followed by eight zero bytes."""
    import numpy as np

    offsets, data = text_buffers(texts)
    low, high = int(offsets[0]), int(offsets[-1])
    return offsets - offsets.dtype.type(low), np.append(data[low:high], np.zeros(_WORD, np.uint8))


def _holds_zero(padded: np.ndarray) -> bool:
    """Whether a text contains a zero byte, which would look like its end."""
    return not padded[:-_WORD].all()


def _words(data: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The eight bytes at each start as an integer; bytes at or after the end count as zeros."""
    import numpy as np

    windows = np.ndarray((len(data) - _WORD + 1,), ">u8", data, 0, (1,))
    masks = np.array([(1 << 64) - (1 << 8 * (_WORD - kept)) for kept in range(_WORD + 1)], np.uint64)
    words = np.empty(len(starts), np.uint64)
    for low in range(0, len(starts), _BLOCK):
        block = slice(low, low + _BLOCK)
        left = np.maximum(ends[block] - starts[block], 0)
        words[block] = windows[ends[block] - left]
        words[block] &= masks.take(np.minimum(left, _WORD))
    return words


def _firsts(keys: np.ndarray) -> np.ndarray:
    """The positions in sorted keys at which a new key begins."""
    import numpy as np

    first = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return first


def _dense(words: np.ndarray) -> np.ndarray:
    """The rank of each word among the distinct ones."""
    import numpy as np

    order = np.argsort(words)
    place = np.empty(len(words), np.uint64)
    place[order] = np.cumsum(_firsts(words.take(order)), dtype=np.uint64)
    return place


def _by_arrow(texts: pa.Array) -> np.ndarray:
    import numpy as np
    from pyarrow.compute import call_function

    order = call_function("array_sort_indices", [texts])
    return np.array(view(order, np.uint64), np.int64)
