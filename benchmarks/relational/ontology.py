"""W5: LUBM's department again and again, twenty to a university, and how many triples must be true of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from benchmarks import lubm
from benchmarks.relational.data import Columns

DEPARTMENTS = 20  # of one university
NEW = 1000  # the number of the second university: the data mentions others below
_DEPARTMENT, _UNIVERSITY = "Department0.University0", "University0.edu"


def departments(copies: int, folder: Path) -> Columns:
    """``tbox.tsv`` and ``abox.tsv`` of ``copies`` departments; the first is LUBM's own. The counts: triples, and of
    those that the axioms speak of the listed and the true."""
    axioms = lubm.read(lubm.DATA / "tbox.tsv")
    listed = _lines(lubm.DATA / "abox.tsv")
    (folder / "tbox.tsv").write_bytes((lubm.DATA / "tbox.tsv").read_bytes())
    triples = 0
    with (folder / "abox.tsv").open("w", encoding="utf-8", newline="") as file:
        for copy in range(copies):
            for line in _renamed(listed, copy):
                file.write(line + "\n")
                triples += 1
    spoken = lubm.classes(axioms) | lubm.relations(axioms)
    known = {line for line in listed if _predicate(line) in spoken}
    entailed = set(_lines(lubm.DATA / "gold_entailed.tsv"))
    return {
        "triples": np.array(triples),
        "listed": np.array(_count(known, copies)),
        "true": np.array(_count(known | entailed, copies)),
    }


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _predicate(line: str) -> str:
    """The class that a triple is about, or its relation."""
    _, predicate, object_ = line.split("\t")
    return object_ if predicate == lubm.TYPE else predicate


def _renamed(lines: Iterable[str], copy: int) -> Iterator[str]:
    """The department's triples under its own names: what it shares with an earlier one is left out."""
    if copy == 0:
        yield from lines
        return
    university, department = divmod(copy, DEPARTMENTS)
    name = f"University{NEW + university}.edu" if university else _UNIVERSITY
    whole = f"Department{department}.{name.removesuffix('.edu')}"
    for line in lines:
        if _DEPARTMENT in line:
            yield line.replace(_DEPARTMENT, whole).replace(_UNIVERSITY, name)
        elif _UNIVERSITY in line and department == 0:
            yield line.replace(_UNIVERSITY, name)


def _count(lines: Iterable[str], copies: int) -> int:
    """How many different triples ``copies`` departments make of one department's."""
    return sum(
        copies if _DEPARTMENT in line else -(-copies // DEPARTMENTS) if _UNIVERSITY in line else 1 for line in lines
    )
