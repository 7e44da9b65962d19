"""The family graph of Neural LP: given path rules, learned weights against uniform ones, by the mean reciprocal rank of
held-out triples.

For each relation the rules are its paths of two steps that explain most training triples, each an operand of one
disjunction. Uniform weights make its truth the share of the paths that hold. Weights are learned from the training
triples and as many pairs again, times three, that paths lead to and no known triple names. Ranks are filtered (other
known triples do not count), ties have their mean rank, heads and tails are asked for."""

from __future__ import annotations

import csv
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

import lnnkit
from benchmarks.relations.outcome import Outcome

Pair = tuple[str, str]
Graph = Mapping[str, set[Pair]]  # the pairs of each relation
Step = tuple[str, bool]  # a relation, and whether it is read backwards
Path2 = tuple[Step, Step]

_PATHS = 12  # of a relation
_FALSE = 3  # false pairs to a true one


def outcomes(folder: Path, seed: int = 0, epochs: int = 100) -> Iterator[Outcome]:
    """Raises FileNotFoundError."""
    facts, train, test = (_graph(folder / f"{name}.txt") for name in ("facts", "train", "test"))
    known = {name: pairs | train.get(name, set()) for name, pairs in facts.items()}
    paths = {name: _paths(facts, train[name]) for name in sorted(train)}
    named = _names(paths)
    derivations = _derivations(named, facts)
    uniform = _rules(paths, named)
    kb = _told(derivations + uniform, facts)
    labels = _labels(kb, paths, train, known, np.random.default_rng(seed))
    began = time.process_time()
    learned = "".join(
        _learned(kb, name, _rules({name: paths[name]}, named), labels[name], epochs, seed) for name in paths
    )
    seconds = time.process_time() - began
    learned = "".join(f"{line}\n" for line in dict.fromkeys(learned.splitlines()))  # declarations once
    every = {name: pairs | test.get(name, set()) for name, pairs in known.items()}
    found = {}
    for weights, rules in (("learned", learned), ("uniform", uniform)):
        found[weights] = _reciprocal_rank(_told(derivations + rules, known), test, every)
    yield Outcome(
        "family",
        f"{sum(map(len, paths.values()))} path rules, {sum(map(len, test.values())):,} triples",
        "MRR",
        found["learned"],
        found["uniform"],
        "uniform weights",
        found["learned"] > found["uniform"],
        seconds,
        learned,
    )


def _graph(path: Path) -> dict[str, set[Pair]]:
    found: dict[str, set[Pair]] = defaultdict(set)
    with path.open(encoding="utf-8", newline="") as lines:
        for one, relation, other in csv.reader(lines, delimiter="\t"):
            found[relation].add((one, other))
    return dict(found)


def _paths(facts: Graph, wanted: set[Pair]) -> list[Path2]:
    """Two steps that lead from one to the other for most of the wanted pairs."""
    steps: dict[str, set[tuple[Step, str]]] = defaultdict(set)
    for relation, pairs in facts.items():
        for one, other in pairs:
            steps[one].add(((relation, False), other))
            steps[other].add(((relation, True), one))
    found: Counter[Path2] = Counter()
    for one, other in wanted:
        found.update(
            {
                (first, second)
                for first, via in steps[one]
                for second, end in steps[via]
                if end == other and via != other
            }
        )
    return [path for path, _ in sorted(found.items(), key=lambda each: (-each[1], each[0]))[:_PATHS]]


def _head(relation: str) -> str:
    return relation.capitalize()


def _names(paths: Mapping[str, Sequence[Path2]]) -> dict[Path2, str]:
    return {path: f"path{place}" for place, path in enumerate(sorted({each for own in paths.values() for each in own}))}


def _derivations(named: Mapping[Path2, str], facts: Graph) -> str:
    """What each path leads to."""
    lines = [f"predicate {name}(person, person) closed" for name in facts]
    for path, name in named.items():
        first, second = (
            f"{relation}({end}, {start})" if backwards else f"{relation}({start}, {end})"
            for (relation, backwards), (start, end) in zip(path, (("X", "Z"), ("Z", "Y")), strict=True)
        )
        lines.append(f"axiom {first} & {second} & X != Y -> {name}(X, Y)")
    return "\n".join(lines) + "\n"


def _rules(paths: Mapping[str, Sequence[Path2]], named: Mapping[Path2, str]) -> str:
    """The disjunction of each relation, and its declarations."""
    used = sorted({named[path] for own in paths.values() for path in own})
    lines = [f"predicate {name}(person, person) closed" for name in (*used, *map(_head, paths))]
    for relation, own in paths.items():
        terms = " | ".join(f"{named[path]}(X, Y)@?{relation}{named[path]}={1 / len(own):.4f}" for path in own)
        lines.append(f"rule {relation}: {terms} -> {_head(relation)}(X, Y)")
    return "\n".join(lines) + "\n"


def _learned(
    kb: lnnkit.KnowledgeBase, relation: str, rules: str, labels: tuple[list[Pair], list[float]], epochs: int, seed: int
) -> str:
    """The rules of a relation with their weights, learned where its pairs are labelled; ``kb`` says which paths hold
    there."""
    learner = lnnkit.loads(rules)
    pairs, truths = labels
    for line in rules.splitlines():
        name = line.removeprefix("predicate ").partition("(")[0]
        if line.startswith("predicate ") and name != _head(relation):
            learner.tell(name, sorted(set(pairs) & set(zip(*kb.ask(f"{name}(X, Y)").columns, strict=True))))
    one, other = zip(*pairs, strict=True)
    learner.label(_head(relation), {"one": one, "other": other, "truth": truths})
    learner.fit(epochs=epochs, seed=seed)
    return learner.text


def _told(text: str, graph: Graph) -> lnnkit.KnowledgeBase:
    kb = lnnkit.loads(text)
    for name, pairs in graph.items():
        kb.tell(name, sorted(pairs))
    return kb


def _labels(
    kb: lnnkit.KnowledgeBase, paths: Mapping[str, object], train: Graph, known: Graph, rng: np.random.Generator
) -> dict[str, tuple[list[Pair], list[float]]]:
    found: dict[str, tuple[list[Pair], list[float]]] = {}
    for name in paths:
        true = sorted(train[name])
        false = sorted(set(_scores(kb, name)) - known[name])
        some = [false[place] for place in rng.permutation(len(false))[: _FALSE * len(true)].tolist()]
        found[name] = [*true, *some], [1.0] * len(true) + [0.0] * len(some)
    return found


def _scores(kb: lnnkit.KnowledgeBase, relation: str) -> dict[Pair, float]:
    answers = kb.ask(f"{_head(relation)}(X, Y)")
    truths = (np.asarray(answers.lower) + np.asarray(answers.upper)) / 2
    return dict(zip(zip(*answers.columns, strict=True), truths.tolist(), strict=True))


def _reciprocal_rank(kb: lnnkit.KnowledgeBase, test: Graph, known: Graph) -> float:
    """The mean over the triples of ``test``, each asked for its head and for its tail."""
    persons = len({person for pairs in known.values() for pair in pairs for person in pair})
    found: list[float] = []
    for relation in sorted(test):
        for side in (0, 1):  # the end that is given
            truths: dict[str, dict[str, float]] = defaultdict(dict)
            for pair, truth in _scores(kb, relation).items():
                truths[pair[side]][pair[1 - side]] = truth
            right: dict[str, set[str]] = defaultdict(set)
            for pair in known[relation]:
                right[pair[side]].add(pair[1 - side])
            for pair in test[relation]:
                given, wanted = pair[side], pair[1 - side]
                others = [truth for other, truth in truths[given].items() if other not in right[given]]
                own = truths[given].get(wanted, 0.0)
                silent = persons - len(others) - len(right[given])  # candidates of truth 0
                above = sum(truth > own for truth in others)
                level = sum(truth == own for truth in others) + (silent if own == 0.0 else 0)
                found.append(1 / (1 + above + level / 2))
    return float(np.mean(found))
