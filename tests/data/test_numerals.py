"""What people write for numbers."""

from __future__ import annotations

import pytest

from lnnkit.data.numerals import meant
from tests.data.reading import Reader


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("'1,000'", "write 1000"),
        ("'-1,234,567.5'", "write -1234567.5"),
        ("'1,5'", "write 1.5"),
        ("'12%'", "write 0.12"),
        ("'$5'", "write 5,"),
        ("'5 kg'", "write 5,"),
        ("'True'", "write 1"),
        ("'2020-01-01'", "a date"),
        ("'1e400'", "too large"),
        ("' 12 '", "give the number 12"),
        ("'old'", "leave the cell empty"),
        ("'3-4'", "leave the cell empty"),
        ("'0x10'", "leave the cell empty"),
    ],
)
def test_each_has_its_hint(text: str, hint: str) -> None:
    assert hint in meant(text)


def test_tables_give_it(read: Reader) -> None:
    got = read('who,age\nanna,"1,000"\n', numeric=True, arity=1)
    assert ["write 1000" in each.hint for each in got.diagnostics] == [True]
