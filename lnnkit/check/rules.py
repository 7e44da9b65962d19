"""Rules: duplicate names, and variables that the rule does not restrict.

A variable is *unsafe* if it ranges over more than its rule restricts it to. Every variable has a domain here, so no
formula is without meaning, and axioms are not restricted. Two uses are reported all the same:

* a free variable that occurs in no atom, only in comparisons (``X != Y -> ...``): it ranges over every entity; error;
* in a ``rule`` with a body, a free variable of the head that the body mentions only under a negation, or not at all
  (a number of it, as in ``age(X) > 18``, is enough), and whose sort is the top sort `entity`: the rule then concludes
  something about every entity of the program, towns and dates included; warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from lnnkit.check.findings import error, find, place, repeated, warning
from lnnkit.check.predicates import heads
from lnnkit.check.program import ENTITY
from lnnkit.check.sorts import grouped, variable_sorts
from lnnkit.check.symbols import Formula, Mention, Symbols
from lnnkit.check.walk import measured, positive, strip_foralls, unweighted
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.identifiers import NULLS


def rules(symbols: Symbols) -> list[Diagnostic]:
    suspects = [(formula, mention) for formula in symbols.formulas for mention in _loose(formula)]
    found = [*_names(symbols), *_compared_only(symbols)]
    for formula, mention in suspects:
        if variable_sorts(formula, symbols.resolved).get((mention.name, 0)) == ENTITY:
            name = mention.name
            message = f"`{name}` in the head ranges over every entity: no positive part of the body mentions it"
            hint = f"add an atom about `{name}` to the body, `Person({name}) & ...`, or declare the predicates' sorts"
            found.append(warning("unsafe-variable", mention.span, message, hint))
    return found


def _names(symbols: Symbols) -> Iterator[Diagnostic]:
    named = (each for each in symbols.formulas if getattr(each.statement, "name", None))
    for before, formula in repeated(named, lambda each: getattr(each.statement, "name", None)):
        name = getattr(formula.statement, "name", "")
        span = find(formula.statement.span, name, len(formula.kind))
        message = f"`{name}` already names the {before.kind} on {place(before.statement.span, span)}"
        yield error("duplicate-rule-name", span, message, "give this one another name")


def _compared_only(symbols: Symbols) -> Iterator[Diagnostic]:
    for formula in symbols.formulas:
        for (name, binder), mentions in grouped(formula.mentions).items():
            if not binder and name.lower() not in NULLS and all(mention.atom is None for mention in mentions):
                message = f"`{name}` occurs only in comparisons: no atom restricts it"
                hint = f"add an atom that mentions it, `Person({name}) & ...`; propositions are joined by `<->`"
                yield error("unsafe-variable", mentions[0].span, message, hint)


def _loose(formula: Formula) -> Iterator[Mention]:
    """The free head variables of a rule that its body does not restrict; those that occur only once are reported
    elsewhere."""
    root = unweighted(strip_foralls(formula.root))
    if formula.kind != "rule" or not isinstance(root, ast.Implies):
        return
    free = {name: mentions for (name, binder), mentions in grouped(formula.mentions).items() if not binder}
    if not free:
        return
    inside = {id(atom) for atom in heads(root)}
    held = {
        argument.name
        for atom in (*positive(root.antecedent), *measured(root.antecedent))
        for argument in atom.arguments
        if isinstance(argument, ast.Variable)
    }
    for name, mentions in free.items():
        first = next((mention for mention in mentions if id(mention.atom) in inside), None)
        if first is not None and len(mentions) > 1 and name not in held:
            yield first
