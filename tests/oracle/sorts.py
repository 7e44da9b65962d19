"""Sorts and domains."""

from __future__ import annotations

from collections.abc import Iterator

from .program import ENTITY, Formula, Program, ProgramError, leaf_arguments, leaf_positions, subformulas

Position = tuple[str, int]


class Sorts:
    """The sort of every predicate position, of every variable, and the domain of every sort.

    ``statements`` and ``queries`` are formulas whose bound variables are apart from all others. Statements join
    undeclared positions, and their constants the domains; queries only read them, since asking must not change another
    answer.
    """

    def __init__(self, program: Program, statements: list[Formula], queries: list[Formula]) -> None:
        self._declared = {
            (p.name, i): p.sorts[i] for p in program.predicates if p.sorts is not None for i in range(p.arity)
        }
        self._parent: dict[object, object] = {}
        self._told: dict[object, set[str]] = {}
        for s, formula in enumerate(statements):
            for variable, position in _uses(formula):
                if position in self._declared:
                    self._told.setdefault(self._root((s, variable)), set()).add(self._declared[position])
                else:
                    self._join((s, variable), position)
        self.positions = {
            (p.name, i): self._declared.get((p.name, i)) or self._sort((p.name, i))
            for p in program.predicates
            for i in range(p.arity)
        }
        self.statement_variables = [
            {v: self._sort((s, v)) for v in _variables(formula)} for s, formula in enumerate(statements)
        ]
        self.query_variables = [
            {
                v: _only({self.positions[position] for name, position in _uses(formula) if name == v}, v)
                for v in _variables(formula)
            }
            for formula in queries
        ]
        self.domains = self._domains(program, statements)
        self.open = {sort for sort, is_open in program.sorts.items() if is_open}

    def local(self, formula: Formula, sorts: dict[str, str]) -> dict[str, str]:
        """The sorts of a subformula's variables as its own places give them: equal neurons have equal ones."""
        found: dict[str, set[str]] = {}
        for variable, position in _uses(formula):
            found.setdefault(variable, set()).add(self.positions[position])
        return {variable: _only(found.get(variable, set()), variable) for variable in sorts}

    def _root(self, node: object) -> object:
        while self._parent.setdefault(node, node) != node:
            node = self._parent[node]
        return node

    def _join(self, first: object, second: object) -> None:
        kept, gone = self._root(first), self._root(second)
        if kept != gone:
            self._parent[gone] = kept
            self._told.setdefault(kept, set()).update(self._told.pop(gone, set()))

    def _sort(self, node: object) -> str:
        return _only(self._told.get(self._root(node), set()), node)

    def _domains(self, program: Program, formulas: list[Formula]) -> dict[str, tuple[str, ...]]:
        seen: dict[str, set[str]] = {ENTITY: set()} | {sort: set() for sort in program.sorts}
        seen |= {sort: set() for sort in self.positions.values() if sort not in seen}

        def see(text: str, sort: str) -> None:
            seen[sort].add(text)
            seen[ENTITY].add(text)

        for fact in program.facts:
            for i, text in enumerate(fact.arguments):
                see(text, self.positions[fact.predicate, i])
        for formula in formulas:
            for leaf in subformulas(formula):
                for (kind, text), position in zip(leaf_arguments(leaf), leaf_positions(leaf), strict=True):
                    if kind == "const":
                        see(text, self.positions[position] if position else ENTITY)
        return {sort: tuple(sorted(members)) for sort, members in seen.items()}


def _only(sorts: set[str], what: object) -> str:
    """The one sort below ``entity``, the top sort."""
    narrow = sorts - {ENTITY}
    if len(narrow) > 1:
        raise ProgramError(f"{what} has two sorts: {sorted(narrow)}")
    return narrow.pop() if narrow else ENTITY


def _uses(formula: Formula) -> Iterator[tuple[str, Position]]:
    """Each variable with each predicate position that it stands in; an equality is no position."""
    for leaf in subformulas(formula):
        for (kind, text), position in zip(leaf_arguments(leaf), leaf_positions(leaf), strict=True):
            if kind == "var" and position:
                yield text, position


def _variables(formula: Formula) -> list[str]:
    """All variables, bound ones too, by their first mention."""
    found = []
    for part in subformulas(formula):
        found += part[1] if part[0] in ("forall", "exists") else [t for k, t in leaf_arguments(part) if k == "var"]
    return list(dict.fromkeys(found))
