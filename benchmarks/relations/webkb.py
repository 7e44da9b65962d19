"""Faculty among the pages of four computer science departments (WebKB): rules written by hand, their weights learned
from three departments, against the class prior of the fourth's labels."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import lnnkit
from benchmarks.relations.outcome import Outcome
from lnnkit.scores import Score

_RELATIONS = {"student": 1, "courseprof": 2, "courseta": 2, "project": 2}
_FACT = re.compile(r"(\w+)\(([^)]*)\)\.")
_STUDENT = "~student(X)@?nostudent=0.5 | "
_PROGRAM = """\
predicate student(person) closed
predicate courseprof(course, person) closed
predicate courseta(course, person) closed
predicate project(project, person) closed
predicate Page(person) closed
predicate Faculty(person) closed
predicate Teaches(person) closed
predicate Assists(person) closed
predicate Researches(person) closed
predicate Heads(person) closed
axiom courseprof(C, X) -> Teaches(X)
axiom courseta(C, X) -> Assists(X)
axiom project(P, X) -> Researches(X)
axiom project(P, X) & project(P, Y) & Assists(Y) & ~Assists(X) -> Heads(X)
rule faculty: Page(X) & ({student}Teaches(X)@?teaches=0.5 | ~Assists(X)@?assists=0.2 | Researches(X)@?researches=0.2
    | Heads(X)@?heads=0.2){{bias: ?bias=1}} -> Faculty(X)
"""


def outcomes(folder: Path, seed: int = 0, epochs: int = 200) -> Iterator[Outcome]:
    """With the pages known to be students', and without. Raises FileNotFoundError."""
    for known in (True, False):
        accuracies, priors, areas = [], [], []
        program, seconds = "", 0.0
        for fold in sorted(folder.glob("fold*")):
            kb = _told(_PROGRAM.format(student=_STUDENT if known else ""), fold / "train")
            began = time.process_time()
            kb.fit(epochs=epochs, seed=seed)
            seconds += time.process_time() - began
            scores = _scores(_told(kb.text, fold / "test"))
            labels = [_pages(fold / "test" / f"test_{kind}.txt") for kind in ("pos", "neg")]
            program = program or kb.text
            accuracies.append(scores.accuracy)
            areas.append(scores.auroc)
            priors.append(max(map(len, labels)) / sum(map(len, labels)))
        setting = f"{len(accuracies)} folds, {'with' if known else 'without'} students"
        accuracy, prior, area = (float(np.mean(each)) for each in (accuracies, priors, areas))
        yield Outcome("webkb", setting, "accuracy", accuracy, prior, "class prior", accuracy > prior, seconds, program)
        yield Outcome("webkb", setting, "AUROC", area, 0.5, "class prior", area > 0.5, seconds)


def _scores(kb: lnnkit.KnowledgeBase) -> Score:
    return kb.evaluate().predicates["Faculty"]


def _told(text: str, folder: Path) -> lnnkit.KnowledgeBase:
    kb = lnnkit.loads(text)
    facts: dict[str, list[tuple[str, ...]]] = {name: [] for name in _RELATIONS}
    for name, arguments in _FACT.findall((folder / f"{folder.name}_facts.txt").read_text(encoding="utf-8")):
        if name in facts:
            facts[name].append(tuple(arguments.split(",")))
    for name, rows in facts.items():
        kb.tell(name, rows)
    true, false = (_pages(folder / f"{folder.name}_{kind}.txt") for kind in ("pos", "neg"))
    pages = sorted({row[-1] for rows in facts.values() for row in rows} | set(true) | set(false))
    kb.tell("Page", [(page,) for page in pages])
    kb.label("Faculty", [(page, 1.0) for page in true] + [(page, 0.0) for page in false])
    return kb


def _pages(path: Path) -> list[str]:
    found = _FACT.findall(path.read_text(encoding="utf-8"))
    return sorted({arguments for name, arguments in found if name == "faculty"})
