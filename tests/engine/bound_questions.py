"""Random programs of closed predicates that derive each other, and questions about some of their atoms."""

from __future__ import annotations

import random

ENTITIES = ("a", "b", "c", "d", "e")
_BASE = {"E": 2, "F": 1, "G": 2}
_DERIVED = {"P": 2, "Q": 1, "R": 2, "S": 3}
_ARITY = {**_BASE, **_DERIVED}


def drawn(seed: int) -> tuple[str, list[str]]:
    """A program without queries, and questions that name some entity."""
    rng = random.Random(seed)
    lines = [] if rng.random() < 0.6 else [f"logic {rng.choice(('product', 'godel'))}"]
    for name, arity in _ARITY.items():
        closed = name in _DERIVED or name == "E" or rng.random() < 0.6
        lines.append(f"predicate {name}({', '.join(['thing'] * arity)}){' closed' if closed else ''}")
    lines += [f"fact {_fact(rng, name)}" for name in _BASE for _ in range(rng.randint(0, 7))]
    lines += [_rule(rng, name) for name in _DERIVED for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.25:
        lines.append(f"fact {_fact(rng, rng.choice(list(_DERIVED)))}")
    if rng.random() < 0.3:
        lines.append(
            f"axiom {_literal(rng, rng.choice(list(_ARITY)), 'XYZ')} -> {_atom(rng, rng.choice(list(_BASE)), 'XYZ')}"
        )
    lines.append("predicate Thing(thing) closed")
    lines += [f"fact Thing({each})" for each in ENTITIES]
    return "\n".join(lines) + "\n", [_question(rng) for _ in range(4)]


def _fact(rng: random.Random, name: str) -> str:
    atom = f"{name}({', '.join(rng.choice(ENTITIES) for _ in range(_ARITY[name]))})"
    low, high = sorted(rng.choice((0, 0.3, 0.6, 0.9, 1)) for _ in range(2))
    return rng.choice((atom, atom, atom, f"~{atom}", f"{atom} in [{low}, {high}]"))


def _atom(rng: random.Random, name: str, variables: str, constants: float = 0.1) -> str:
    return f"{name}({', '.join(_argument(rng, variables, constants) for _ in range(_ARITY[name]))})"


def _argument(rng: random.Random, variables: str, constants: float) -> str:
    return rng.choice(ENTITIES) if rng.random() < constants else rng.choice(variables)


def _literal(rng: random.Random, name: str, variables: str) -> str:
    return f"{'~' if rng.random() < 0.15 else ''}{_atom(rng, name, variables)}"


def _rule(rng: random.Random, head: str) -> str:
    body = [rng.choice((*_BASE, *_BASE, *_DERIVED, head)) for _ in range(rng.randint(1, 3))]
    literals = [_literal(rng, name, "XYZ") for name in body]
    if rng.random() < 0.1:
        literals.append(f"(exists W: {rng.choice(('E', 'P'))}({rng.choice('XYZ')}, W))")
    if rng.random() < 0.1:
        literals.append(f"{rng.choice('XY')} != {rng.choice('YZ')}")
    used = [each for each in "XYZ" if any(each in literal for literal in literals)] or ["X"]
    text = f"rule {' & '.join(literals)} -> {_atom(rng, head, ''.join(used))}"
    return text + (f" in [{rng.choice((0.5, 0.8))}, 1]" if rng.random() < 0.3 else "")


def _question(rng: random.Random) -> str:
    name = rng.choice(list(_DERIVED))
    places = ["V", "W", "U"][: _ARITY[name]]
    for place in rng.sample(range(len(places)), rng.randint(1, len(places))):
        places[place] = rng.choice(ENTITIES)
    asked = f"{name}({', '.join(places)})"
    return asked if rng.random() < 0.8 else f"{asked} & {_atom(rng, rng.choice(list(_ARITY)), 'VW', 0.6)}"
