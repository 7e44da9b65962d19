"""Decides whether the rows of a sort are independent, and otherwise reports what links two of them, with both
positions.

A statement that queries need may be about one entity of the sort, and no quantifier may range over the sort. A
statement about rows may read other entities, as long as no row can move a side of them that matters: otherwise rows
would affect each other. An entity that only a row names must make no difference to a quantifier.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from lnnkit.analysis.causes import point
from lnnkit.analysis.relevance import AnalysedFormula
from lnnkit.check.findings import place
from lnnkit.check.program import ENTITY, Assertion, CheckedFormula, Predicate, Query, SameEntity
from lnnkit.check.walk import nodes
from lnnkit.engine.planning.inference_plan import positive_queries
from lnnkit.formula.passes import neuron_upward
from lnnkit.formula.unfolding import LEAF, Formula, unfold
from lnnkit.graph.laws import Law
from lnnkit.graph.lifted import Root
from lnnkit.logic.bounds import Bounds
from lnnkit.rows.needed_statements import Needed, containing, holder, sends
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, Span
from lnnkit.syntax.printer import format_expression

RowStatement = Assertion | Query


@dataclass(frozen=True)
class RowSort:
    """The sort whose entities are rows. ``exact`` predicates have a single truth for each atom, which inference cannot
    narrow; a row may introduce entities of the sorts that it ``brings``, of which those ``named`` have some entity
    anyway. Facts may be ``supplied`` about these predicates and numbers."""

    name: str
    predicates: Mapping[str, Predicate]
    exact: frozenset[str] = frozenset()
    brings: frozenset[str] = field(default=frozenset())
    named: frozenset[str] = field(default=frozenset())
    supplied: frozenset[str] = field(default=frozenset())


def row_links(needs: Needed, rows: RowSort) -> list[Diagnostic]:
    """What links rows, one report for each statement, and the queries that have no answer for each row. Empty if rows
    are independent."""
    links = _Links(needs, rows)
    diagnostics: dict[tuple[str, int], Diagnostic] = {}
    for finding in (*links.of_queries(), *links.of_statements()):
        span = finding.span
        diagnostics.setdefault((span.source.path, span.start) if span else ("", 0), finding)
    return list(diagnostics.values())


class _Links:
    def __init__(self, needs: Needed, rows: RowSort) -> None:
        self.needs = needs
        self.rows = rows
        self.asked = [unfold(needs.lifted, root) for root in positive_queries(needs.lifted)]
        self.sorts: frozenset[str] = frozenset({rows.name})
        if self._mixed():
            self.sorts |= {ENTITY}

    def _mixed(self) -> bool:
        """Whether a position for any entity can hold a row."""
        return any(
            isinstance(argument, int) and sort == ENTITY and formula.sorts[argument] == self.rows.name
            for formula in (*self.needs.formulas, *self.asked)
            for neuron in (formula.neurons[leaf] for leaf in formula.leaves)
            if neuron.source in self.rows.predicates
            for argument, sort in self._places(neuron.source, neuron.arguments)
        )

    def _places(self, table: str, arguments: Sequence[int | str]) -> Iterable[tuple[int | str, str]]:
        """The arguments of an atom, each with the sort of its position."""
        return zip(arguments, self.needs.lifted.graph.nodes[table]["sorts"], strict=True)

    # --- queries ------------------------------------------------------------------------------------------------------

    def of_queries(self) -> Iterator[Diagnostic]:
        """Why queries do not have one answer for each row."""
        for root, formula in zip(positive_queries(self.needs.lifted), self.asked, strict=True):
            query = root.origin
            names = [name for name, sort in zip(root.variables, root.sorts, strict=True) if sort in self.sorts]
            yield from self._of_root(root, formula)
            if len(names) == len(root.variables) == 1:
                continue
            if len(names) == 1:
                others = " and ".join(f"`{name}`" for name in root.variables if name not in names)
                message = f"this query has an answer for each {others}, not one for each {self.rows.name}"
                hint = f"bind {others} by a quantifier, or name an entity in its place"
            elif not names:
                message = f"this query asks nothing about each {self.rows.name}"
                hint = f"ask for a formula with one variable, which stands for a {self.rows.name}"
            else:
                continue
            yield Diagnostic("query-without-rows", message, hint, query.span)

    # --- statements ---------------------------------------------------------------------------------------------------

    def of_statements(self) -> Iterator[Diagnostic]:
        """Why statements link rows with one another."""
        yield from self._of_any_entity()
        for reading in self.needs.readings:
            formula = reading.formula
            if formula.root is not None:
                if formula.auxiliary is None:
                    yield from self._of_root(formula.root, formula)
                else:
                    yield from self._of_quantifiers(self._holder(formula), formula)
            yield from self._moved(reading)
        for _, formulas in self.needs.strata:
            for formula in formulas:
                if formula.root is not None:
                    yield from self._of_root(formula.root, formula)
        yield from self._over_nothing()

    def _over_nothing(self) -> Iterator[Diagnostic]:
        """Quantifiers over a sort that has an entity only if some row names one. Such a statement may seem irrelevant
        to the rows, such as one with `forall T: Odd(T)` where nothing makes `Odd` true; but without any entity the
        quantifier is true."""
        needs = self.needs
        every = [unfold(needs.lifted, root) for root in needs.lifted.statements]
        every += [formula for formula in needs.shared.formulas if formula.root is not None]
        tables = [formula.sources for formula in every]
        reached = {formula.neurons[leaf].source for formula in self.asked for leaf in formula.leaves}
        while more := [read for read in tables if read & reached and not read <= reached]:
            reached = reached.union(*more)
        for formula, read in zip(every, tables, strict=True):
            if not read & reached:
                continue
            for block in formula.blocks[1:]:
                for variable in block.bound:
                    sort = formula.sorts[variable]
                    empty = sort not in self.rows.named and not len(needs.world.sorts.get(sort, ()))
                    if sort in self.rows.brings and empty and not self._neutral(formula, variable):
                        yield self._ranging(self._holder(formula), formula, variable)

    def _of_any_entity(self) -> Iterator[Diagnostic]:
        """Predicates of any entity, with facts: these are not among those that a stream supplies."""
        for formula in (*self.needs.formulas, *self.asked):
            for neuron in (formula.neurons[leaf] for leaf in formula.leaves if formula.root is not None):
                sorts = self.needs.lifted.graph.nodes[neuron.source]["sorts"]
                if neuron.source not in self.rows.supplied or ENTITY not in sorts:
                    continue
                if any(isinstance(term, int) and formula.sorts[term] == self.rows.name for term in neuron.arguments):
                    statement = self._holder(formula)
                    span, shown = _atom(statement, neuron.source)
                    sort = self.rows.name
                    message = f"{shown} in {_words(statement)} is about any entity, not about each {sort} alone"
                    hint = f"declare its argument to be a {sort}, so that the stream supplies it"
                    yield Diagnostic("linked-rows", message, hint, span)

    def _of_root(self, root: Root, formula: Formula) -> Iterator[Diagnostic]:
        """What links rows in a statement or a query: two rows in it, or all of them."""
        statement = self._statement(root)
        ranging = list(self._of_quantifiers(statement, formula))
        if ranging:
            yield from ranging
            return
        rows = self._rows_of(formula)
        if len(rows) > 1:
            yield self._two(statement, rows)

    def _of_quantifiers(self, statement: RowStatement, formula: Formula) -> Iterator[Diagnostic]:
        """The first quantifier of a formula over all rows, or over what rows name."""
        for block in formula.blocks[1:]:
            for variable in () if block.unnamed else block.bound:
                sort = formula.sorts[variable]
                grows = sort == ENTITY or sort in self.rows.brings
                if sort in self.sorts or (grows and not self._neutral(formula, variable)):
                    yield self._ranging(statement, formula, variable)
                    return

    def _named(self, formula: Formula) -> set[str]:
        """The rows that a formula names, in its shared neurons too."""
        graph = self.needs.lifted.graph
        leaves = [formula.neurons[leaf] for leaf in formula.leaves]
        places = [(neuron.source, neuron.arguments) for neuron in leaves]
        for node in graph.below(*(neuron.source for neuron in leaves)):
            places += [(operand, edge["arguments"]) for operand, edge in graph.operands[node]]
        return {
            argument
            for table, arguments in places
            if graph.nodes[table]["kind"] != "same"
            for argument, sort in self._places(table, arguments)
            if isinstance(argument, str) and sort == self.rows.name
        }

    def _statement(self, root: Root) -> RowStatement:
        """The statement of a root, or one that contains the comparisons of a law."""
        if not isinstance(root.origin, Law):
            return root.origin
        lifted, graph = self.needs.lifted, self.needs.lifted.graph
        compared = {node for node in graph.below(root.reference.node) if graph.nodes[node]["kind"] == "compare"}
        return containing(lifted, lifted.statements, compared | {root.reference.node}) or root.origin

    def _two(self, statement: RowStatement, names: Sequence[str]) -> Diagnostic:
        sort, (span, _) = self.rows.name, _mention(statement, names[1])
        first, second = (_shown(statement, name, span) for name in names[:2])
        message = f"{_words(statement)} relates two entities of the sort `{sort}`: {first}, and {second}"
        hint = f"rows are decided one by one: write the statement about one {sort}, or run the program whole"
        return Diagnostic("linked-rows", message, hint, span)

    def _ranging(self, statement: RowStatement, formula: Formula, variable: int) -> Diagnostic:
        """A quantifier over all rows, or over what rows name."""
        name, sort, rows = formula.written.get(variable, ""), formula.sorts[variable], self.rows.name
        span, kind = _quantifier(statement, name)
        every = f"all entities of the sort `{rows}`"
        hint = "rows are decided one by one: ask for this by `lnnkit run`, which reads all of them"
        if sort not in self.sorts:
            every = f"each {sort} that any {rows} names"
            hint = f"guard it by a closed predicate of the {rows}, as in `exists {name}: P(X, {name}) & ...`"
        message = f"in {_words(statement)}, `{kind} {name}` ranges over {every}"
        return Diagnostic("linked-rows", message, hint, span)

    def _moved(self, reading: AnalysedFormula) -> Iterator[Diagnostic]:
        """What links rows in a statement about a row that may move an atom of another entity."""
        formula = reading.formula
        if not any(self._is_row_atom(formula, leaf) for leaf in formula.leaves) and not self._named(formula):
            return
        for leaf in formula.leaves:
            neuron = formula.neurons[leaf]
            if self._is_row_atom(formula, leaf) or neuron.source in self.rows.exact:
                continue
            if not sends(reading, self.needs.relevance, leaf):
                continue
            statement = self._holder(formula)
            written = neuron.source if neuron.source in self.rows.predicates else "a comparison"
            span, shown = _atom(statement, written)
            sort = self.rows.name
            message = f"by {_words(statement)}, one {sort} may change what others read of {shown}"
            rows = [name for name in self._rows_of(formula)[:1] if _mention(statement, name)[1]]
            message += "".join(f"; the {sort} is {_shown(statement, name, span)}" for name in rows)
            hint = "change the rules so that this statement cannot bound it"
            if written in self.rows.predicates and not neuron.numeric:
                closing = "as a closed predicate with one truth for each fact, which no rule can change"
                hint = f"load `{written}` {closing}, or {hint}"
            yield Diagnostic("linked-rows", message, hint, span)
            return

    def _holder(self, formula: Formula) -> RowStatement:
        """The first statement that contains a formula."""
        assert formula.root is not None
        return self._statement(formula.root) if formula.auxiliary is None else holder(self.needs.lifted, formula)

    def _rows_of(self, formula: Formula) -> list[str]:
        """The rows of a statement by their variables and names; of a shared neuron by the names alone."""
        root = formula.root if formula.auxiliary is None else None
        pairs = () if root is None else zip(root.variables, root.sorts, strict=True)
        return [*(name for name, sort in pairs if sort in self.sorts), *sorted(self._named(formula))]

    def _is_row_atom(self, formula: Formula, leaf: int) -> bool:
        neuron = formula.neurons[leaf]
        return any(
            formula.sorts[argument] in self.sorts if isinstance(argument, int) else sort == self.rows.name
            for argument, sort in self._places(neuron.source, neuron.arguments)
        )

    # --- domains that grow with the rows ------------------------------------------------------------------------------

    def _neutral(self, formula: Formula, variable: int) -> bool:
        """Whether an entity without any known atom makes no difference to the quantifier."""
        block = next(number for number, block in enumerate(formula.blocks) if variable in block.bound)
        quantifier = next(neuron for neuron in formula.neurons if neuron.inner == block)
        derived = self.needs.lifted.closed_derived
        values: list[Bounds] = []
        for index, neuron in enumerate(formula.neurons):
            operands = [values[operand] for operand in neuron.operands]
            if neuron.kind == LEAF:
                known = self.rows.predicates.get(neuron.source)
                closed = known is not None and known.closed and neuron.source not in derived
                absent = closed and variable in neuron.arguments and self._is_row_atom(formula, index)
                values.append(point((0.0, 0.0 if absent else 1.0)))
            elif neuron.kind in ("true", "false"):
                truth = float(neuron.kind == "true")
                values.append(point((truth, truth)))
            elif neuron.quantifies:
                lower, upper = (end.item() for end in operands[0])
                sure = (lower, upper) == ((1.0, 1.0) if neuron.least else (0.0, 0.0))
                values.append(operands[0] if sure else point((0.0, 1.0)))
            elif operands and neuron.arithmetic is None and not neuron.aggregates:
                values.append(neuron_upward(neuron, operands))
            else:
                values.append(point((0.0, 1.0)))
        body = values[quantifier.operands[0]]
        return body.lower.item() == body.upper.item() == float(quantifier.least)


# --- words and places -------------------------------------------------------------------------------------------------


def _expressions(statement: RowStatement) -> Iterator[CheckedFormula]:
    return nodes(cast("ast.Expression", statement.formula))


def _mention(statement: RowStatement, name: str) -> tuple[Span, str]:
    """The first occurrence of a variable or an entity, and the atom that it is in."""
    for node in _expressions(statement):
        arguments: tuple[ast.Argument, ...] = ()
        if isinstance(node, ast.Atom):
            arguments = node.arguments
        elif isinstance(node, SameEntity):
            arguments = (node.left, node.right)
        for argument in arguments:
            if (argument.name if isinstance(argument, ast.Variable) else argument.text) == name:
                return argument.span, format_expression(node) if isinstance(node, ast.Atom) else ""
    return statement.span, ""


def _shown(statement: RowStatement, name: str, beside: Span) -> str:
    span, atom = _mention(statement, name)
    within = f" in `{atom}`" if atom else ""
    return f"`{name}`{within} ({place(span, beside)}, column {span.column})"


def _quantifier(statement: RowStatement, name: str) -> tuple[Span, str]:
    for node in _expressions(statement):
        if isinstance(node, ast.Binder):
            for variable in node.variables:
                if variable.name == name:
                    return variable.span, node.name if isinstance(node, ast.Aggregate) else type(node).__name__.lower()
    return statement.span, "forall"


def _atom(statement: RowStatement, table: str) -> tuple[Span, str]:
    for node in _expressions(statement):
        if isinstance(node, ast.Atom) and node.name == table:
            return node.span, f"`{format_expression(node)}`"
    return statement.span, table


def _words(statement: RowStatement) -> str:
    if isinstance(statement, Query):
        return "this query"
    return f"the {statement.kind} `{statement.name}`" if statement.name else f"this {statement.kind}"
