"""LUBM (Guo, Pan, Heflin 2005): a university's ontology as axioms, its closure compared triple by triple.

    python -m benchmarks.lubm [--data DIR] [--write DIR]

``tbox.tsv`` (kind, subject, object) becomes a program that a person can read; `ontology` does it for any file of
those kinds. ``--write`` keeps it as ``DIR/lubm.lnn``. The axioms are taken as OWL means them: the world is open, a
definition is an equivalence, an inverse works both ways. Exit code 1 says that a triple is missing or extra.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lnnkit import KnowledgeBase

Triple = tuple[str, str, str]
DATA = Path(os.environ.get("LNNKIT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "lubm"
TYPE = "type"

# kind -> the heading of its group, the axiom's title and its formula. {s} is the subject, {o} the object; for
# `R C`, an object of two words, {r} and {c}.
SHAPES = {
    "subClassOf": ("Kinds: A is a kind of B", "{s} is {o}", "{s}(X) -> {o}(X)"),
    "subClassOfSome": ("Every A has some R that is a B", "{s} has {r}", "{s}(X) -> exists Y: {r}(X, Y) & {c}(Y)"),
    "subPropertyOf": ("Relations that say more than another", "{s} means {o}", "{s}(X, Y) -> {o}(X, Y)"),
    "inverseOf": ("The same relation read backwards", "{s} inverts {o}", "{s}(X, Y) <-> {o}(Y, X)"),
    "transitive": ("Transitive relations", "{s} is transitive", "{s}(X, Y) & {s}(Y, Z) -> {s}(X, Z)"),
    "domain": ("What has a relation", "{s} domain", "{s}(X, Y) -> {o}(X)"),
    "range": ("What a relation leads to", "{s} range", "{s}(X, Y) -> {o}(Y)"),
}
# A definition has several parts: all of them make an A, and each A has each.
PARTS = {
    "definedAnd": ("{s} is {o}", "{o}(X)"),
    "definedSome": ("{s} has {r}", "(exists Y: {r}(X, Y) & {c}(Y))"),
}
CLASSES = {
    "subClassOf": "so",
    "subClassOfSome": "sc",
    "definedAnd": "so",
    "definedSome": "sc",
    "domain": "o",
    "range": "o",
}
RELATIONS = {
    "subClassOfSome": "r",
    "definedSome": "r",
    "subPropertyOf": "so",
    "inverseOf": "so",
    "transitive": "s",
    "domain": "s",
    "range": "s",
}


def read(path: Path) -> list[Triple]:
    """The rows of a table without header or quoting; a missing last cell is empty."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            (row[0], row[1], row[2] if len(row) > 2 else "")
            for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        ]


# --- writing the program ----------------------------------------------------------------------------------------------


def ontology(axioms: Sequence[Triple]) -> str:
    """The vocabulary and the axioms, grouped by kind. Raises `ValueError` for a kind that it does not know."""
    unknown = {kind for kind, _, _ in axioms} - {*SHAPES, *PARTS}
    if unknown:
        raise ValueError(f"unknown kinds of axioms: {', '.join(sorted(unknown))}")
    lines = ["# The world is open: what is neither listed nor derived is unknown, and there may be more individuals."]
    lines += ["sort entity open"]
    lines += [f"predicate {name}(entity)" for name in sorted(classes(axioms))]
    lines += [f"predicate {name}(entity, entity)" for name in sorted(relations(axioms))]
    for kind, (heading, title, formula) in SHAPES.items():
        found = list(_distinct(axioms, kind))
        if found:
            lines += ["", f"# {heading}"]
            lines += [f"axiom {_title(title.format(**names))}: {formula.format(**names)}" for names in found]
    defined = list(dict.fromkeys(subject for kind, subject, _ in axioms if kind in PARTS))
    if defined:
        lines += ["", "# Definitions: what is enough, then what is needed"]
        for name in defined:
            parts = [(*PARTS[kind], _names(s, o)) for kind, s, o in axioms if kind in PARTS and s == name]
            whole = " & ".join(formula.format(**names) for _, formula, names in parts)
            lines.append(f"axiom {_title(name + ' defined')}: {whole} -> {name}(X)")
            for title, formula, names in parts:
                lines.append(f"axiom {_title(title.format(**names))}: {name}(X) -> {formula.format(**names)}")
    return "\n".join(lines) + "\n"


def loads(axioms: Sequence[Triple], table: str) -> str:
    """A ``load`` of each class and relation from a table of triples, relations that no axiom speaks of left out."""
    lines = ["# Facts: subject, predicate, object"]
    for name in sorted(classes(axioms)):
        lines.append(f'load {name} from "{table}" (1) where 2 = "{TYPE}" and 3 = "{name}" no header')
    for name in sorted(relations(axioms)):
        lines.append(f'load {name} from "{table}" (1, 3) where 2 = "{name}" no header')
    return "\n".join(lines) + "\n"


def queries(axioms: Sequence[Triple]) -> str:
    """Ask for every class and relation."""
    names = [f"{name}(X)" for name in sorted(classes(axioms))] + [f"{name}(X, Y)" for name in sorted(relations(axioms))]
    return "\n".join(["# Everything", *(f"query {name}" for name in names)]) + "\n"


def classes(axioms: Iterable[Triple]) -> set[str]:
    return set(_mentioned(axioms, CLASSES))


def relations(axioms: Iterable[Triple]) -> set[str]:
    return set(_mentioned(axioms, RELATIONS))


def _mentioned(axioms: Iterable[Triple], roles: Mapping[str, str]) -> Iterator[str]:
    for kind, subject, object_ in axioms:
        names = _names(subject, object_)
        yield from (names[role] for role in roles.get(kind, ""))


def _distinct(axioms: Iterable[Triple], kind: str) -> Iterator[dict[str, str]]:
    """The axioms of a kind; an inverse that is stated from both ends, once."""
    seen = set()
    for axiom_kind, subject, object_ in axioms:
        key = frozenset((subject, object_)) if kind == "inverseOf" else (subject, object_)
        if axiom_kind == kind and key not in seen:
            seen.add(key)
            yield _names(subject, object_)


def _names(subject: str, object_: str) -> dict[str, str]:
    relation, _, class_ = object_.partition(" ")
    return {"s": subject, "o": object_, "r": relation, "c": class_}


def _title(words: str) -> str:
    """``GraduateCourse is Course`` -> ``graduate-course-is-course``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|\s+", "-", words).lower()


# --- running it -------------------------------------------------------------------------------------------------------


def program(axioms: Sequence[Triple], table: str = "abox.tsv") -> str:
    head = "# An ontology as axioms, written by benchmarks/lubm.py\n"
    return "\n".join([head, ontology(axioms), loads(axioms, table), queries(axioms)])


def true_atoms(kb: KnowledgeBase) -> set[Triple]:
    """The triples whose lower bound is 1, of the program's queries: one predicate each, over X or X, Y."""
    found: set[Triple] = set()
    for answers in kb.answers():
        name = answers.query.split("(")[0]
        kept = (answers.lower >= 1 - 1e-9) & (answers.upper >= 1 - 1e-9)
        rows = zip(*answers.columns, strict=True)
        for row, true in zip(rows, kept.tolist(), strict=True):
            if true:
                found.add((row[0], name, row[1]) if len(row) == 2 else (row[0], TYPE, name))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lubm", description="LUBM's closure, checked exactly.")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of tbox.tsv, abox.tsv, gold_entailed.tsv")
    parser.add_argument("--write", type=Path, help="keep the program as DIR/lubm.lnn")
    options = parser.parse_args(arguments)
    missing = [name for name in ("tbox.tsv", "abox.tsv", "gold_entailed.tsv") if not (options.data / name).is_file()]
    if missing:
        parser.error(f"no {missing[0]} in {options.data}; give --data or set LNNKIT_DATA")

    import torch

    import lnnkit
    import lnnkit.kb

    torch.set_num_threads(1)
    data = options.data.resolve()
    axioms = read(data / "tbox.tsv")
    text = program(axioms)
    if options.write:
        options.write.mkdir(parents=True, exist_ok=True)
        table = Path(os.path.relpath(data / "abox.tsv", options.write)).as_posix()
        (options.write / "lubm.lnn").write_text(program(axioms, table), encoding="utf-8")
    marks = [time.process_time()]
    kb = lnnkit.loads(text, data)
    marks.append(time.process_time())
    outcome = kb.infer()
    marks.append(time.process_time())
    true = true_atoms(kb)
    marks.append(time.process_time())

    listed, gold = set(read(data / "abox.tsv")), set(read(data / "gold_entailed.tsv"))
    derived = true - listed
    seconds = [round(end - start, 3) for start, end in pairwise(marks)]
    found = {
        "derived": len(derived),
        "expected": len(gold),
        "missing": sorted(gold - derived)[:10],
        "extra": sorted(derived - gold)[:10],
        "contradictions": len(outcome.contradictions),
        "status": outcome.status,
        "rounds": outcome.rounds,
        "cpu_seconds": dict(zip(("load", "infer", "answers"), seconds, strict=True)),
        "torch": torch.__version__,
    }
    print(json.dumps(found, indent=2))
    return 0 if derived == gold else 1


if __name__ == "__main__":
    sys.exit(main())
