"""Unfolds each root of the lifted graph into a tree of neurons over leaves, divided into blocks at its quantifiers.

A leaf is a predicate, a number or a shared neuron, whose bounds are kept in a table; all other neurons are evaluated
anew each time. The operands of a comparison or a term are its numbers. The rows of a block are the assignments of its
variables: those free in its quantifier, then those that the quantifier binds. Rows with the same values of the free
variables form a group: one instance of the quantifier. Block 0 is the formula itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Protocol

from lnnkit.formula.number_terms import comparison, parameters, term
from lnnkit.graph.laws import Law
from lnnkit.graph.lifted import COMPARISON, GREATEST, LEAST, NUMBER, QUANTIFIERS, TERMS, LiftedGraph, Root
from lnnkit.logic import logic_named
from lnnkit.logic.logic import Logic
from lnnkit.numeric import Comparison, Term
from lnnkit.syntax.identifiers import AGGREGATES
from lnnkit.time_limit import check_time

LEAF = "leaf"
TERM = "term"
_ANTECEDENT = "\0"  # stands for the quantifier of an antecedent while it is unfolded
AUXILIARY = -1  # marks a formula's own shared neuron among its leaves


class Neuron(NamedTuple):
    """One node of the tree; its operands come before it. ``arguments`` are variables of the formula, or the texts of
    entities."""

    kind: str
    operands: tuple[int, ...]
    block: int
    source: str  # its node in the lifted graph: for a leaf, the table that holds its bounds
    arguments: tuple[int | str, ...]
    weights: tuple[float, ...] = ()
    bias: float = 1.0
    logic: Logic | None = None
    inner: int = -1  # for a quantifier or an aggregate: the block of its operands
    # Names of the parameters: of the weights, then of the bias; for arithmetic, of all numbers
    learned: tuple[str | None, ...] = ()
    numeric: bool = False  # whether it is a leaf that holds a number, or a term
    arithmetic: Comparison | Term | None = None  # for a comparison or term: the arithmetic over its operands
    derived: str = ""  # of a leaf: ``min`` or ``max``, if it is a number that rules derive as that of its candidates

    @property
    def quantifies(self) -> bool:
        """Whether it is a quantifier."""
        return self.kind in QUANTIFIERS

    @property
    def least(self) -> bool:
        """Whether it is the least of the rows of its body, a ``forall``; an ``exists`` is the greatest."""
        return self.kind == LEAST

    @property
    def aggregates(self) -> bool:
        """Whether it takes the rows of its operands together to a number."""
        return self.kind in AGGREGATES

    @property
    def fixed(self) -> bool:
        """Whether its bounds are always the same: ``true``, ``false``, arithmetic without numbers."""
        return self.kind in ("true", "false") or (self.arithmetic is not None and not self.operands)


@dataclass(frozen=True, slots=True)
class Block:
    """The rows of one quantifier's operand; block 0 has no parent. ``grouped``: the quantifier does not depend on all
    variables of the enclosing block, so several enclosing rows share one group of rows. That is so in completions and
    queries, which are evaluated upward alone; in rounds such quantifiers are shared neurons. ``unnamed``: it has rows
    about unnamed individuals alone."""

    parent: int
    variables: tuple[int, ...]
    bound: tuple[int, ...]
    grouped: bool = False
    unnamed: bool = False

    @property
    def free(self) -> tuple[int, ...]:
        """The variables that identify a group."""
        return self.variables[: len(self.variables) - len(self.bound)]


@dataclass(frozen=True)
class Formula:
    """An unfolded root. ``sorts`` has one entry for each variable. ``auxiliary`` names the table of the shared neuron
    that the formula defines: that neuron's bounds are used in place of ``lower`` and ``upper``."""

    neurons: tuple[Neuron, ...]
    blocks: tuple[Block, ...]
    sorts: tuple[str, ...]
    lower: float
    upper: float
    auxiliary: str | None = None
    root: Root | None = None
    heads: frozenset[int] = field(default=frozenset())  # leaves that a defining statement defines
    key: str = ""  # canonical text, used to break ties
    written: Mapping[int, str] = field(default_factory=dict, compare=False)  # the names of quantified variables
    prenex_of: Formula | None = field(default=None, compare=False)  # with its quantifiers where they were written

    def __deepcopy__(self, memo: dict[int, object]) -> Formula:
        return self

    @property
    def top(self) -> int:
        return len(self.neurons) - 1

    @property
    def original(self) -> Formula:
        """The formula before its quantifiers were moved to the front: what users have written."""
        return self.prenex_of or self

    @property
    def reads_own(self) -> tuple[bool, bool]:
        """Whether a shared neuron reads its own lower and its own upper end: all but a prenex quantifier read both."""
        top = self.neurons[self.top]
        if self.prenex_of is None or not top.quantifies:
            return True, True
        return top.least, not top.least

    @property
    def learned(self) -> tuple[tuple[str | None, ...], ...]:
        """Its parameters, by position."""
        ends = self.root.learned if self.root is not None and self.auxiliary is None else (None, None)
        return (ends, *(neuron.learned for neuron in self.neurons))

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        return tuple(i for i, neuron in enumerate(self.neurons) if neuron.kind == LEAF)

    @cached_property
    def read(self) -> tuple[int, ...]:
        """What has bounds in a table: the leaves, and the formula's own shared neuron."""
        return self.leaves if self.auxiliary is None else (*self.leaves, AUXILIARY)

    @cached_property
    def sources(self) -> frozenset[str]:
        """The tables that its instances read."""
        return frozenset(map(self.table, self.read))

    def with_rows(self, observed: Collection[int]) -> Iterator[tuple[int, int]]:
        """What has atom rows (also equalities and ``observed`` neurons), each with its block."""
        for index, neuron in enumerate(self.neurons):
            if neuron.kind in (LEAF, "same") or index in observed:
                yield index, neuron.block
        if self.auxiliary is not None:
            yield AUXILIARY, 0

    def table(self, leaf: int) -> str:
        """The table that holds the bounds of a leaf, or of the own shared neuron."""
        if leaf == AUXILIARY:
            assert self.auxiliary is not None
            return self.auxiliary
        return self.neurons[leaf].source

    def arguments(self, leaf: int) -> tuple[int | str, ...]:
        """The arguments of a leaf, or of the own shared neuron."""
        return self.original.blocks[0].variables if leaf == AUXILIARY else self.neurons[leaf].arguments

    def block_of(self, leaf: int) -> int:
        """The block whose rows a leaf has."""
        return 0 if leaf < 0 else self.neurons[leaf].block

    def path(self, block: int) -> tuple[int, ...]:
        """A block and those that enclose it, from block 0 on."""
        path = [block]
        while path[-1] > 0:
            path.append(self.blocks[path[-1]].parent)
        return tuple(reversed(path))

    def around(self, block: int) -> tuple[int, ...]:
        """The variables that are in scope inside a block."""
        return tuple(dict.fromkeys(v for number in self.path(block) for v in self.blocks[number].variables))

    @cached_property
    def derives(self) -> Neuron | None:
        """The comparison of a number that it derives with a candidate for it, if it is a statement that does."""
        head = next(iter(self.heads), AUXILIARY)
        return self.neurons[self.neurons[self.top].operands[1]] if head >= 0 and self.neurons[head].numeric else None

    @cached_property
    def numeric(self) -> bool:
        """Whether some leaf is a number."""
        return any(neuron.numeric for neuron in self.neurons)

    @property
    def measures(self) -> bool:
        """Whether it defines an aggregate, a number."""
        return self.auxiliary is not None and self.neurons[self.top].aggregates

    @cached_property
    def compares(self) -> bool:
        """Whether it defines a comparison."""
        return self.auxiliary is not None and self.neurons[self.top].kind == COMPARISON

    @property
    def head(self) -> tuple[int, bool]:
        """The neuron below the root's leading negations, and whether the number of negations is odd."""
        index, negated = self.top, False
        while self.neurons[index].kind == "not":
            index, negated = self.neurons[index].operands[0], not negated
        return index, negated

    @property
    def is_law(self) -> bool:
        """Whether it is a law of order, which adds nothing to what its comparisons derive from their numbers alone."""
        return self.auxiliary is None and self.root is not None and isinstance(self.root.origin, Law)


class World(Protocol):
    """The part of a program's entities that unfolding needs: which sorts they belong to."""

    def lacks(self, sorts: Sequence[str], arguments: Sequence[object]) -> bool:
        """Whether any argument is an entity that does not belong to the sort of its position."""
        ...


def unfold(
    lifted: LiftedGraph,
    root: Root,
    *,
    auxiliary: str | None = None,
    through_shared: bool = False,
    through_comparisons: bool | None = None,
    world: World | None = None,
    kept: Collection[str] = (),
    unnamed: Sequence[int] = (),
) -> Formula:
    """The tree below ``root``. The root itself is always unfolded; shared neurons below it are leaves unless
    ``through_shared``, shared comparisons unless ``through_comparisons`` (default: the same). In a query over a
    ``world``, shared neurons about entities that do not belong to their sorts are unfolded too: no statement applies to
    them. Shared neurons that are ``kept`` are leaves in any case. The antecedent of a defining statement is read as
    an ``exists`` over those of its variables that are ``unnamed`` individuals, which its consequent keeps."""
    check_time()
    through = {True: through_shared if through_comparisons is None else through_comparisons, False: through_shared}
    graph = lifted.graph
    neurons: list[Neuron] = []
    blocks = [Block(-1, tuple(range(len(root.variables))), ())]
    sorts = list(root.sorts)
    written: dict[int, str] = {}
    done: list[int] = []  # indices of finished operands, a stack
    stack: list[tuple[str, tuple[int | str, ...], int, int, bool]] = [
        (root.reference.node, root.reference.arguments, 0, -1, False)
    ]
    opened = False  # The root is unfolded even if it is shared.
    while stack:
        node, arguments, block, inner, ready = stack.pop()
        if node == _ANTECEDENT:
            neurons.append(Neuron(GREATEST, (done.pop(),), block, "", arguments, inner=inner))
            done.append(len(neurons) - 1)
            continue
        first, opened = not opened, True
        data = graph.nodes[node]
        kind = data["kind"]
        leaf = data["shared"] and (node in kept or not through[kind == COMPARISON]) and not ready and not first
        if kind in ("predicate", NUMBER) or (leaf and not (world and world.lacks(data["sorts"], arguments))):
            done.append(len(neurons))
            numeric = kind == NUMBER or kind in AGGREGATES
            neurons.append(Neuron(LEAF, (), block, node, arguments, numeric=numeric, derived=data.get("derived", "")))
            continue
        if kind == COMPARISON or kind in TERMS:
            arithmetic, numbers = (comparison if kind == COMPARISON else term)(graph, node, arguments)
            if not ready:
                stack.append((node, arguments, block, -1, True))
                stack += ((name, passed, block, -1, False) for name, passed in reversed(numbers))
                continue
            operands = tuple(done[len(done) - len(numbers) :])
            del done[len(done) - len(numbers) :]
            done.append(len(neurons))
            made = Neuron(COMPARISON if kind == COMPARISON else TERM, operands, block, node, arguments)
            learned, numeric = parameters(graph, node), kind != COMPARISON
            neurons.append(made._replace(learned=learned, numeric=numeric, arithmetic=arithmetic))
            continue
        edges = graph.operands[node]
        if not ready:
            inner = -1
            visible = arguments
            if kind in QUANTIFIERS or kind in AGGREGATES:
                bound = tuple(range(len(sorts), len(sorts) + len(data["bound_sorts"])))
                sorts.extend(data["bound_sorts"])
                written.update(zip(bound, data["bound_names"], strict=True))
                inner = len(blocks)
                outer = blocks[block].variables
                several = through_shared or world is not None  # only upward
                free = tuple(variable for variable in outer if variable in arguments) if several else outer
                blocks.append(Block(block, free + bound, bound, grouped=len(free) < len(outer)))
                visible = arguments + bound
            stack.append((node, arguments, block, inner, True))
            for operand, edge in reversed(edges):
                passed = tuple(visible[a] if isinstance(a, int) else a for a in edge["arguments"])
                stack.append((operand, passed, inner if inner >= 0 else block, -1, False))
            if first and unnamed:
                operand, passed, *_ = stack.pop()
                fresh = {variable: len(sorts) + place for place, variable in enumerate(unnamed)}
                sorts.extend(root.sorts[variable] for variable in fresh)
                written.update((new, root.variables[variable]) for variable, new in fresh.items())
                outer = tuple(v for v in blocks[0].variables if v not in fresh)
                free = tuple(v for v in outer if v in passed)
                bound = tuple(fresh.values())
                blocks = [Block(-1, outer, ()), Block(0, free + bound, bound, len(free) < len(outer), unnamed=True)]
                stack.append((_ANTECEDENT, (), 0, 1, True))
                renamed = tuple(fresh.get(a, a) if isinstance(a, int) else a for a in passed)
                stack.append((operand, renamed, 1, -1, False))
            continue
        count = len(edges)
        operands = tuple(done[len(done) - count :])
        del done[len(done) - count :]
        if kind == "same":
            arguments = tuple(arguments[a] if isinstance(a, int) else a for a in data["arguments"])
        done.append(len(neurons))
        weights, bias = tuple(edge["weight"] for _, edge in edges), data.get("bias", 1.0)
        logic = logic_named(data["logic"]) if "logic" in data else None
        learned = (*(edge.get("parameter") for _, edge in edges), data.get("learned", {}).get("bias"))
        connective = kind, operands, block, node, arguments, weights, bias, logic, inner, learned
        neurons.append(Neuron(*connective, numeric=kind in AGGREGATES))
    if graph.mixed or len({neuron.logic.name for neuron in neurons if neuron.logic is not None}) > 1:
        neurons = [neuron._replace(logic=neuron.logic and neuron.logic.among_others()) for neuron in neurons]
    heads = _heads(neurons, root.defines) if root.defines else frozenset()
    ends = root.lower, root.upper
    return Formula(tuple(neurons), tuple(blocks), tuple(sorts), *ends, auxiliary, root, heads, written=written)


def in_rounds(lifted: LiftedGraph, shared: Iterable[Formula]) -> list[Formula]:
    """The statements that are not shared neurons, but for those that derive a closed number, and the definitions of the
    ``shared`` ones, in canonical order."""
    numbers = lifted.derived_numbers
    statements = (
        replace(unfold(lifted, root), key=root.origin.span.text)
        for root in lifted.statements
        if not lifted.graph.nodes[root.reference.node]["shared"] and root.defines.isdisjoint(numbers)
    )
    return sorted((*statements, *shared), key=lambda formula: formula.key)


def _heads(neurons: list[Neuron], defines: frozenset[str]) -> frozenset[int]:
    """The leaves in the consequent conjunction of a defining statement, or the number that it bounds by a candidate."""
    stack, heads = [neurons[-1].operands[1]], set()
    while stack:
        index = stack.pop()
        neuron = neurons[index]
        if neuron.kind == "and":
            stack.extend(neuron.operands)
        elif neuron.kind == COMPARISON and {neurons[o].source for o in neuron.operands[:1]} <= defines:
            heads.update(neuron.operands[:1])
        elif neuron.kind == LEAF and neuron.source in defines:
            heads.add(index)
    return frozenset(heads)


Modes = Mapping[int, tuple[int, int]]  # for each leaf, how its lower and its upper end are kept


def shape_key(formula: Formula, modes: Modes, observed: tuple[int, ...]) -> object:
    """A key that is equal for formulas which can be evaluated together."""
    plain = {"source": "", "arguments": (), "learned": (), "numeric": False}
    return (
        tuple(n._replace(logic=n.logic and n.logic.name, **plain) for n in formula.neurons),
        tuple((b.parent, len(b.bound), b.grouped, b.unnamed) for b in formula.blocks),
        tuple(n.arguments[0] == n.arguments[1] for n in formula.neurons if n.kind == "same"),
        (formula.lower, formula.upper) if formula.auxiliary is None else None,
        formula.heads,
        tuple(sorted(modes.items())),
        observed,
    )
