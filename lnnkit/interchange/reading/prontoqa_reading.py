"""A logic program of ProntoQA, as Logic-LM writes them -> formulas: literals with a truth, rules over them, a query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lark import Token, Tree

from lnnkit.interchange import first_order as fol
from lnnkit.interchange.liberties import Liberties, Unreadable
from lnnkit.interchange.reading.program_sections import Entry, entries, parsed
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.span import Source, Span

SECTIONS = ("Predicates", "Facts", "Rules", "Query")


@dataclass
class LogicProgram:
    stated: list[fol.Stated] = field(default_factory=list)
    glosses: dict[str, str] = field(default_factory=dict)
    errors: list[Diagnostic] = field(default_factory=list)


def read_prontoqa(source: Source, liberties: Liberties) -> LogicProgram:
    """The formulas of a program, what `Predicates` says of predicates, and what cannot be read."""
    program = LogicProgram()
    undeclared: dict[str, Span] = {}
    try:
        for entry in entries(source, SECTIONS):
            if entry.section == "Predicates":
                name = source.text[entry.start : entry.end].partition("(")[0].strip()
                program.glosses[name] = entry.gloss
                continue
            try:
                program.stated.append(_read(source, entry))
            except Unreadable as problem:
                program.errors.append(problem.diagnostic)
    except Unreadable as problem:
        program.errors.append(problem.diagnostic)
    for each in program.stated:
        for leaf in fol.leaves(each.formula):
            if isinstance(leaf, fol.Atom) and leaf.predicate not in program.glosses and leaf.span is not None:
                undeclared.setdefault(leaf.predicate, leaf.span)
    for name, span in undeclared.items():
        message = f"`{name}` is not among the predicates: it is declared"
        liberties.note_at("undeclared-predicate", message, "check whether another one is meant", span)
    return program


def _read(source: Source, entry: Entry) -> fol.Stated:
    text = source.text[entry.start : entry.end]
    tree = parsed(source, entry.start, entry.end, "rule" if entry.section == "Rules" else "fact")
    reader = _Reader(source, entry.start)
    if entry.section == "Rules":
        split = next(i for i, each in enumerate(tree.children) if isinstance(each, Token) and each.type == "THEN")
        formula = fol.Implies(reader.literals(tree.children[:split]), reader.literals(tree.children[split:]))
    else:
        formula = reader.literals(tree.children)
    whole: fol.Formula = formula
    for name in reversed(fol.free_variables(formula)):
        whole = fol.Quantified(True, name, whole)
    role = "query" if entry.section == "Query" else "axiom"
    return fol.Stated(whole, role, None, " ".join(text.split()), entry.gloss, entry.span(source))


@dataclass
class _Reader:
    source: Source
    offset: int

    def literals(self, nodes: list[Tree[Token] | Token]) -> fol.Formula:
        found = [self._literal(each) for each in nodes if isinstance(each, Tree)]
        return found[0] if len(found) == 1 else fol.And(tuple(found))

    def _literal(self, node: Tree[Token]) -> fol.Formula:
        name, *rest = [each for each in node.children if isinstance(each, Token) and each.type not in _MARKS]
        arguments = tuple([self._argument(each) for each in rest[:-1]])
        atom = fol.Atom(str(name), arguments, self._span(name))
        return atom if rest[-1].lower() == "true" else fol.Not(atom)

    def _argument(self, token: Token) -> fol.Term:
        kinds: dict[str, Callable[[], fol.Term]] = {
            "VARIABLE": lambda: fol.Variable(str(token)[1:], self._span(token)),
            "STRING": lambda: fol.Application(str(token)[1:-1], (), True, self._span(token)),
        }
        made = kinds.get(token.type)
        return made() if made else fol.Application(str(token), (), False, self._span(token))

    def _span(self, token: Token) -> Span:
        return Span(self.source, self.offset + (token.start_pos or 0), self.offset + (token.end_pos or 0))


_MARKS = ("LPAR", "RPAR", "COMMA")
