"""Variables: bound where they must be, free where they may be, and used in the right places; and the names of rules.

A variable is *unsafe* if it ranges over more than its rule restricts it to. Every variable has a domain here, so no
formula is without meaning, and axioms are not restricted. Two uses are reported all the same:

* a free variable that occurs in no atom, only in comparisons (``X != Y -> ...``): it ranges over every entity; error;
* in a ``rule`` with a body, a free variable of the head that the body mentions only under a negation, or not at all
  (a number of it, as in ``age(X) > 18``, is enough), and whose sort is the top sort `entity`: the rule then concludes
  something about every entity of the program, towns and dates included; warning.

Sorts: undeclared arguments get inferred sorts, and a variable must not have two sorts.

An undeclared argument position takes the sort of the variables in it: positions joined by a variable of one statement
form a class (union-find). A class with exactly one declared sort takes that sort; a class with none, or with several
(``Named(X)`` used for people and for towns), gets the top sort `entity`, which includes all others. Comparisons of
entities join nothing. A single variable in positions of two declared sorts is an error. Queries join nothing, since
asking must not change another answer; their variables are checked against all sorts, including inferred ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from lnnkit.check.entity_names import namesakes, variable_like_entity
from lnnkit.check.findings import error, find, place, repeated, warning
from lnnkit.check.predicates import arity_of, heads
from lnnkit.check.program import ENTITY, Predicate
from lnnkit.check.symbols import Formula, Mention, Symbols
from lnnkit.check.walk import free_variables, measured, positive, proposition, strip_foralls, unweighted, visits
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.identifiers import NULLS
from lnnkit.syntax.printer import format_string

Scoped = tuple[str, int]  # a variable's name, and the identity of its binder (0: free)


def sorts(symbols: Symbols) -> list[Diagnostic]:
    return [finding for formula in symbols.formulas for finding in _clashes(formula, symbols)]


def _clashes(formula: Formula, symbols: Symbols) -> Iterator[Diagnostic]:
    declared = symbols.resolved if formula.kind == "query" else symbols.declared
    for mentions in grouped(formula.mentions).values():
        first: tuple[Mention, str] | None = None
        for mention in mentions:
            sort = _declared_sort(mention, declared)
            if sort is None or sort == ENTITY:
                continue
            if first is None:
                first = mention, sort
            elif sort != first[1]:
                where = place(first[0].span, mention.span)
                before = f"{_ordinal(first[0])} on {where}, column {first[0].span.column}"
                message = f"`{mention.name}` is a {sort} as {_ordinal(mention)}, but a {first[1]} as {before}"
                hint = "use two variables, or declare one of the arguments as `entity`, to which every sort belongs"
                yield error("sort-clash", mention.span, message, hint)
                break


def _ordinal(mention: Mention) -> str:
    assert mention.atom is not None
    words = ("first", "second", "third", "fourth", "fifth")
    number = words[mention.position] if mention.position < len(words) else f"{mention.position + 1}th"
    which = f"{number} argument" if len(mention.atom.arguments) > 1 else "argument"
    return f"the {which} of `{mention.atom.name}`"


def grouped(mentions: Iterable[Mention]) -> dict[Scoped, list[Mention]]:
    """The mentions of each variable; a name that is bound twice counts as two variables."""
    groups: dict[Scoped, list[Mention]] = {}
    for mention in mentions:
        if mention.variable:
            groups.setdefault((mention.name, id(mention.binder) if mention.binder else 0), []).append(mention)
    return groups


def _declared_sort(mention: Mention, declared: Mapping[str, Predicate]) -> str | None:
    if mention.atom is None or mention.atom.name not in declared:
        return None
    positions = declared[mention.atom.name].sorts
    return positions[mention.position] if mention.position < len(positions) else None


def resolve_predicates(symbols: Symbols) -> dict[str, Predicate]:
    """Every predicate of the program with the sorts of its arguments; declared ones first."""
    classes = _classes([formula for formula in symbols.formulas if formula.kind != "query"], symbols.declared)
    resolved = dict(symbols.declared)
    tables = {table.predicate: table for table in (*symbols.extra, *symbols.tables)}
    for name in [*symbols.uses, *tables]:
        if name in resolved:
            continue
        arity = arity_of(symbols, name)
        if arity is None:
            arity = symbols.arities.get(name, len(tables[name].columns) if name in tables else 0)
        uses = symbols.uses.get(name, ())
        span = uses[0].span if uses else None
        resolved[name] = Predicate(name, tuple(classes.get((name, i), ENTITY) for i in range(arity)), span=span)
    return resolved


def _classes(formulas: Sequence[Formula], declared: Mapping[str, Predicate]) -> dict[tuple[str, int], str]:
    """The sort of each undeclared (predicate, position)."""
    parent: dict[Hashable, Hashable] = {}

    def root(item: Hashable) -> Hashable:
        parent.setdefault(item, item)
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    given: list[tuple[Hashable, str]] = []
    for index, formula in enumerate(formulas):
        for scoped, mentions in grouped(formula.mentions).items():
            for mention in mentions:
                if mention.atom is None:
                    continue
                sort = _declared_sort(mention, declared)
                if sort is not None:
                    given.append(((index, scoped), sort))
                elif mention.atom.name not in declared:
                    parent[root((mention.atom.name, mention.position))] = root((index, scoped))
    met: dict[Hashable, set[str]] = {}
    for item, sort in given:
        if sort != ENTITY:
            met.setdefault(root(item), set()).add(sort)
    positions = [item for item in parent if isinstance(item, tuple) and isinstance(item[0], str)]
    return {item: min(known) for item in positions if len(known := met.get(root(item), set())) == 1}


def variable_sorts(formula: Formula, predicates: Mapping[str, Predicate]) -> dict[Scoped, str]:
    """The sort of each variable of a formula, by (name, binder)."""
    resolved: dict[Scoped, str] = {}
    for scoped, mentions in grouped(formula.mentions).items():
        sorts = {sort for mention in mentions if (sort := _declared_sort(mention, predicates)) is not None}
        resolved[scoped] = min(sorts - {ENTITY}, default=ENTITY)
    return resolved


def variables(symbols: Symbols) -> list[Diagnostic]:
    findings = list(_in_facts(symbols))
    for formula in symbols.formulas:
        findings += [*_quantifiers(formula), *_as_formulas(formula), *_bound_and_free(formula)]
        findings += _once(formula, symbols)
    return findings


def _in_facts(symbols: Symbols) -> Iterator[Diagnostic]:
    for kind, statement in symbols.stated():
        for argument in statement.atom.arguments:
            if isinstance(argument, ast.Variable):
                name = argument.name
                message = f"`{name}` is a variable (it starts upper-case), and a {kind} is about entities"
                hint = f"an entity is written {format_string(name)} or in lower case; for all entities write a rule"
                yield error(f"variable-in-{kind}", argument.span, message, hint)


def _quantifiers(formula: Formula) -> Iterator[Diagnostic]:
    used = {id(mention.binder) for mention in formula.mentions if mention.binder is not None}
    for visit in formula.visits:
        node, known = visit.node, dict(visit.scope)
        if isinstance(node, ast.Atom) and not node.arguments and node.name in known:
            used.add(id(known[node.name]))
        for variable in node.variables if isinstance(node, ast.Quantifier) else ():
            if variable.name in known:  # bound again: a finding of its own
                used.add(id(known[variable.name]))
            known[variable.name] = variable
    for visit in formula.visits:
        node = visit.node
        if not isinstance(node, ast.Quantifier):
            continue
        word = "forall" if isinstance(node, ast.Forall) else "exists"
        bound: dict[str, ast.Variable] = {}
        for variable in node.variables:
            name = variable.name
            outer = bound.get(name) or visit.scope.get(name)
            bound[name] = variable
            if outer is not None:
                message = f"`{name}` is already bound on {place(outer.span, variable.span)}, column {outer.span.column}"
                yield error("shadowed-variable", variable.span, message, "give the inner variable another name")
            elif id(variable) not in used:
                message = f"`{word}` binds `{name}`, which does not occur below it"
                hint = f"take `{name}` out, or check its spelling below"
                yield error("unused-variable", variable.span, message, hint)
        if isinstance(node, ast.Exists) and isinstance(node.body, ast.Implies):
            names = [variable.name for variable in node.variables]
            one = ", ".join(names)
            message = f"this holds as soon as one {one} makes the left side of `->` false, or the right side true"
            hint = "write `&` for `->` if both sides are meant to hold of the same thing"
            left = node.body.antecedent.span.on_one_line
            if (
                visit.parent is None
                and len(left) < 60
                and set(free_variables(visits(node.body.consequent))).isdisjoint(names)
            ):
                hint = f"close the quantifier before the arrow: `(exists {one}: {left}) -> ...`"
            yield warning("exists-implies", node.body.span, message, hint)


def _as_formulas(formula: Formula) -> Iterator[Diagnostic]:
    free = {mention.name for mention in formula.mentions if mention.variable and mention.binder is None}
    for visit in formula.visits:
        atom = proposition(visit)
        if atom is not None and (atom.name in visit.scope or atom.name in free):
            how = "bound by a quantifier" if atom.name in visit.scope else "an argument elsewhere in this statement"
            message = f"`{atom.name}` is used as a formula, but is a variable ({how})"
            yield error("variable-as-formula", atom.span, message, f"write a formula about it: `P({atom.name})`")


def _bound_and_free(formula: Formula) -> Iterator[Diagnostic]:
    quantifiers = (visit.node for visit in reversed(formula.visits) if isinstance(visit.node, ast.Quantifier))
    bound = {variable.name: variable for quantifier in quantifiers for variable in quantifier.variables}
    seen: set[str] = set()
    for mention in formula.mentions:
        name = mention.name
        if mention.binder is None and name in bound and not mention.quoted and name not in seen:
            seen.add(name)
            where = f"{place(bound[name].span, mention.span)}, column {bound[name].span.column}"
            message = f"`{name}` is outside the scope of the quantifier that binds it ({where})"
            hint = "put parentheses around the whole scope of the quantifier, or use another name here"
            after = bound[name].span.source.text[bound[name].span.end :].lstrip()
            if not after.startswith((":", "(", ",")):
                hint = f"a colon after the variable extends the scope to the end: `{name}: ...`"
            yield error("bound-and-free", mention.span, message, hint)


def _formula_about(atom: ast.Atom, formula: Formula) -> ast.Expression:
    """The atom itself, or, if it is a number in a comparison, that comparison."""
    parents = {id(visit.node): visit.parent for visit in formula.visits}
    node: ast.Expression | None = atom
    while node is not None:
        if isinstance(node, ast.Comparison):
            return node
        node = parents.get(id(node)) if isinstance(node, ast.Atom | ast.NumericNode) else None
    return atom


def _once(formula: Formula, symbols: Symbols) -> Iterator[Diagnostic]:
    """Warnings about free variables that occur once outside queries: they join nothing, and are often misspelt; and
    about those, and all of a query, that have the name of an entity."""
    free = [mention for mention in formula.mentions if mention.variable and mention.binder is None]
    counts = Counter(mention.name for mention in free)
    query = formula.kind == "query"
    named = namesakes(symbols, (name for name, count in counts.items() if query or count == 1))
    atoms = [visit.node for visit in formula.visits if isinstance(visit.node, ast.Atom)]
    bare = {atom.name for atom in atoms if not atom.arguments}
    for mention in free:
        name = mention.name
        if name in named:
            named.remove(name)
            yield variable_like_entity(mention.span, name, warning)
        elif counts[name] == 1 and not query and mention.atom is not None and name not in bare:
            message = f"`{name}` occurs once in this {formula.kind}, so it joins nothing"
            atom = _formula_about(mention.atom, formula).span.on_one_line
            hint = f"check its spelling; if any will do, write `(exists {name}: {atom})`, if all, `forall {name}: ...`"
            yield warning("single-variable", mention.span, message, hint)


def rules(symbols: Symbols) -> list[Diagnostic]:
    suspects = [(formula, mention) for formula in symbols.formulas for mention in _loose(formula)]
    findings = [*_names(symbols), *_compared_only(symbols)]
    for formula, mention in suspects:
        if variable_sorts(formula, symbols.resolved).get((mention.name, 0)) == ENTITY:
            name = mention.name
            message = f"`{name}` in the head ranges over every entity: no positive part of the body mentions it"
            hint = f"add an atom about `{name}` to the body, `Person({name}) & ...`, or declare the predicates' sorts"
            findings.append(warning("unsafe-variable", mention.span, message, hint))
    return findings


def _names(symbols: Symbols) -> Iterator[Diagnostic]:
    named = (formula for formula in symbols.formulas if getattr(formula.statement, "name", None))
    for before, formula in repeated(named, lambda formula: getattr(formula.statement, "name", None)):
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
    inside = {id(atom) for atom in heads(root)} if free else set()
    arguments = (term for atom in (*positive(root.antecedent), *measured(root.antecedent)) for term in atom.arguments)
    held = {term.name for term in arguments if isinstance(term, ast.Variable)} if free else set()
    for name, mentions in free.items():
        first = next((mention for mention in mentions if id(mention.atom) in inside), None)
        if first is not None and len(mentions) > 1 and name not in held:
            yield first
