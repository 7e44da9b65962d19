"""The names of entities, and their ids. Whole numbers stay numbers; texts stay in Arrow until they are needed."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress, islice, pairwise, takewhile
from typing import TYPE_CHECKING, cast, overload

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_FEW = 20  # materialising a text alone costs this many times its share in bulk

WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")
SMALL = 20_000  # up to this many values plain Python beats the import of Arrow's kernels


def is_many(count: int) -> bool:
    """Whether this many values are worth the import of Arrow's kernels."""
    return count > SMALL


def whole(text: str) -> int | None:
    """The number that ``text`` spells if it is a *whole number*: exactly what Python prints for an ``int`` of 64 bits:
    ``42`` and ``-7``, not ``007``, ``-0``, ``+5`` or ``1e3``. With one spelling each they can be stored as numbers,
    and nothing is lost."""
    if not WHOLE.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


class Names(Sequence[str]):
    """Distinct texts by rank: first ``numbers`` (int64, see `whole`), ascending by value, then ``texts`` that are not
    whole numbers, ascending by code point, in Python or Arrow. Equal to any sequence of the same texts."""

    def __init__(self, texts: tuple[str, ...] | pa.StringArray = (), numbers: np.ndarray | None = None) -> None:
        import numpy as np

        self.numbers = np.empty(0, np.int64) if numbers is None else numbers
        self.texts = texts
        self._compared = 0  # texts materialised alone for look-ups; where these have cost what all cost, all are

    @staticmethod
    def of(texts: Iterable[str]) -> Names:
        """The names among any texts: each once, in order."""
        import numpy as np

        read = {text: whole(text) for text in texts}
        numbers = sorted(number for number in read.values() if number is not None)
        return Names(
            tuple(sorted(text for text, number in read.items() if number is None)), np.array(numbers, np.int64)
        )

    @cached_property
    def arrow(self) -> pa.StringArray:
        """All names as an Arrow array of strings."""
        import pyarrow as pa

        from lnnkit.data.arrow import concatenated, numbers, strings

        if not len(self.numbers):
            return self.texts_in_arrow
        if not is_many(len(self)):
            return strings(self.python)
        return concatenated([numbers(self.numbers).cast(pa.string()), self.texts_in_arrow])

    @cached_property
    def python(self) -> tuple[str, ...]:
        """All names as Python strings."""
        texts = self.texts if isinstance(self.texts, tuple) else cast("list[str]", self.texts.to_pylist())
        return (*map(str, self.numbers.tolist()), *texts)

    @cached_property
    def ranks(self) -> np.ndarray:
        """(n,) int32, the ranks of all names: the codes of a column that has each once, in order. Read-only."""
        import numpy as np

        return np.arange(len(self), dtype=np.int32)

    @property
    def texts_in_arrow(self) -> pa.StringArray:
        """The texts, without the numbers, as an Arrow array."""
        if not isinstance(self.texts, tuple):
            return self.texts
        from lnnkit.data.arrow import strings

        return strings(self.texts)

    def find(self, text: str) -> int | None:
        """The rank of a name (in NFC); None if it is absent."""
        number = whole(text)
        if number is not None:
            place = int(self.numbers.searchsorted(number))
            return place if place < len(self.numbers) and self.numbers[place] == number else None
        if isinstance(self.texts, tuple):  # proofs over 20,000 names take two thirds of the time
            place = bisect_left(self.texts, text)
        elif "python" in vars(self) or self._compared * _FEW > len(self.texts):
            place = bisect_left(self.python, text, lo=len(self.numbers)) - len(self.numbers)
        else:
            self._compared += len(self.texts).bit_length()
            place = bisect_left(range(len(self.texts)), text, key=self._text)
        return len(self.numbers) + place if place < len(self.texts) and self._text(place) == text else None

    def starting(self, prefix: str, most: int) -> list[str]:
        """The first ``most`` texts (whole numbers excluded) that start with ``prefix``."""
        place = bisect_left(range(len(self.texts)), prefix, key=self._text)
        behind = map(self._text, range(place, len(self.texts)))
        return list(islice(takewhile(lambda text: text.startswith(prefix), behind), most))

    def at(self, ids: np.ndarray, expected: int) -> list[str]:
        """The names at some ranks; ``expected`` is how many will be asked for in total."""
        if "python" not in vars(self):
            if not len(self.texts):
                return list(map(str, self.numbers.take(ids).tolist()))
            if expected * _FEW < len(self):
                return [self._one(place) for place in ids.tolist()]
        python = self.python
        return [python[place] for place in ids.tolist()]

    def some(self, used: np.ndarray) -> Names:
        """The names that a mask selects."""
        from lnnkit.data.arrow import booleans

        count = len(self.numbers)
        if isinstance(self.texts, tuple):
            return Names(tuple(compress(self.texts, used[count:].tolist())), self.numbers[used[:count]])
        return Names(self.texts.filter(booleans(used[count:])), self.numbers[used[:count]])

    def merged_with(self, texts: Sequence[str]) -> tuple[Names, np.ndarray]:
        """These names and other ``texts`` in order, and the rank there of each name and then of each text (int32)."""
        import numpy as np

        from lnnkit.data.arrow import concatenated, strings

        new, count = Names.of(texts), len(self.texts)
        at = self.numbers.searchsorted(new.numbers)  # where numbers are inserted,
        new_texts = new.python[len(at) :]
        places = [bisect_left(range(count), text, key=self._text) for text in new_texts]  # and where texts are
        if isinstance(self.texts, tuple):
            merged = tuple(sorted((*self.texts, *new_texts)))
        else:
            parts = [self.texts[: places[0]] if places else self.texts]
            for text, (start, stop) in zip(new_texts, pairwise((*places, count)), strict=True):
                parts += [strings([text]), self.texts[start:stop]]
            merged = concatenated(parts)
        new_ranks = np.append(at, np.array(places, np.int64) + len(self.numbers)) + np.arange(len(new))
        ranks = np.delete(np.arange(len(self) + len(new), dtype=np.int32), new_ranks)
        index = Entities(new)
        of_texts = new_ranks.take([index[text] for text in texts]).astype(np.int32)
        return Names(merged, np.insert(self.numbers, at, new.numbers)), np.append(ranks, of_texts)

    def followed_by(self, texts: Iterable[str]) -> AppendedNames:
        """With more texts behind them."""
        return AppendedNames(self, (*texts,))

    def _one(self, place: int) -> str:
        rest = place - len(self.numbers)
        return str(self.numbers[place]) if rest < 0 else self._text(rest)

    def _text(self, place: int) -> str:
        if "python" in vars(self):
            return self.python[len(self.numbers) + place]
        text = self.texts[place]
        return text if isinstance(text, str) else cast("str", text.as_py())

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and self.find(value) is not None

    def __len__(self) -> int:
        return len(self.numbers) + len(self.texts)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice) or "python" in vars(self):
            return self.python[index]
        return self._one(range(len(self))[index])

    def __iter__(self) -> Iterator[str]:
        return iter(self.python)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Names):
            same = self.numbers.tobytes() == other.numbers.tobytes() and len(self.texts) == len(other.texts)
            return same and (not len(self.texts) or self.texts_in_arrow.equals(other.texts_in_arrow))
        return isinstance(other, Sequence) and self.python == tuple(other)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        shown = ", ".join(repr(self[place]) for place in range(min(5, len(self))))
        return f"Names({len(self):,}: {shown}{', ...' if len(self) > 5 else ''})"


class AppendedNames(Sequence[str]):
    """Names by rank, and then ``appended`` texts, which are not in order."""

    def __init__(self, names: Names, appended: tuple[str, ...]) -> None:
        self.names = names
        self.appended = appended

    @cached_property
    def in_order(self) -> tuple[Names, np.ndarray]:
        """All of these in order, and the rank of each."""
        return self.names.merged_with(self.appended)

    def followed_by(self, texts: Iterable[str]) -> AppendedNames:
        """With more texts behind them."""
        return AppendedNames(self.names, (*self.appended, *texts))

    def at(self, ids: np.ndarray, expected: int) -> list[str]:
        """The texts at some places, as `Names.at`."""
        first = iter(self.names.at(ids[ids < len(self.names)], expected))
        return [next(first) if place < len(self.names) else self[place] for place in ids.tolist()]

    def __len__(self) -> int:
        return len(self.names) + len(self.appended)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return (*self.names, *self.appended)[index]
        return self.names[index] if index < len(self.names) else self.appended[index - len(self.names)]


AnyNames = Names | AppendedNames


class Entities(Mapping[str, int]):
    """Maps distinct NFC texts to ids. The id of an entity is its rank among the names: whole numbers by value, then
    texts by code point (see `Names`). So ids do not depend on the order of rows or files. Texts are materialised only
    on demand."""

    __slots__ = ("names",)

    def __init__(self, names: Iterable[str]) -> None:
        self.names = names if isinstance(names, Names) else Names.of(names)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, text: str) -> int:
        """The id of ``text`` (in NFC); raises ``KeyError`` if no fact or program names it."""
        place = self.names.find(text)
        if place is None:
            raise KeyError(text)
        return place
