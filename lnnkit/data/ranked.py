"""Ranks many texts: the distinct ones in sorted order, and the rank of each text. Arrow hashes and sorts; UTF-8 bytes
sort as code points do."""

from __future__ import annotations

from typing import cast

import numpy as np
import pyarrow as pa

from lnnkit.data.arrow import int64s, view


def ranked(texts: pa.Array) -> tuple[np.ndarray, pa.Array]:
    """The rank (int32) of each text among the distinct ones, and these, sorted by their bytes.

    ``texts`` are strings or binary without nulls; the distinct ones have the same type.
    """
    from pyarrow.compute import call_function

    coded = cast("pa.DictionaryArray", texts.dictionary_encode())
    order = view(call_function("array_sort_indices", [coded.dictionary]), np.uint64).astype(np.int64)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return place.take(view(coded.indices, np.int32)), coded.dictionary.take(int64s(order))
