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

from lnnkit.check.entity_names import namesakes, sort_of, variable_like_entity
from lnnkit.check.findings import error, find, place, repeated, warning
from lnnkit.check.predicates import arity_of, heads
from lnnkit.check.program import ENTITY, Predicate
from lnnkit.check.symbols import Formula, Mention, Symbols
from lnnkit.check.walk import atoms, measured, positive, proposition, unweighted
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.identifiers import NULLS
from lnnkit.syntax.printer import format_string

Scoped = tuple[str, int]  # a variable's name, and the identity of its binder (0: free)


def sorts(symbols: Symbols) -> Iterator[Diagnostic]:
    for formula in symbols.formulas:
        declared = symbols.resolved if formula.kind == "query" else symbols.declared
        for mentions in grouped(formula.mentions).values():
            sorted_ = [(mention, sort_of(mention, declared)) for mention in mentions]
            known = [(mention, sort) for mention, sort in sorted_ if sort not in (None, ENTITY)]
            for mention, sort in [pair for pair in known if pair[1] != known[0][1]][:1]:
                first, one = known[0]
                before = f"{_ordinal(first)} on {place(first.span, mention.span)}, column {first.span.column}"
                message = f"`{mention.name}` is a {sort} as {_ordinal(mention)}, but a {one} as {before}"
                hint = "use two variables, or declare one of the arguments as `entity`, to which every sort belongs"
                yield error("sort-clash", mention.span, message, hint)


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


def resolve_predicates(symbols: Symbols) -> dict[str, Predicate]:
    """Every predicate of the program with the sorts of its arguments; declared ones first."""
    classes = _classes([formula for formula in symbols.formulas if formula.kind != "query"], symbols.declared)
    resolved = dict(symbols.declared)
    for name, uses in symbols.uses.items():
        if name not in resolved:
            arity = arity_of(symbols, name)
            places = range(symbols.arities.get(name, 0) if arity is None else arity)
            sorts = tuple(classes.get((name, place), ENTITY) for place in places)
            resolved[name] = Predicate(name, sorts, span=uses[0].span)
    return resolved


def _classes(formulas: Sequence[Formula], declared: Mapping[str, Predicate]) -> dict[tuple[str, int], str]:
    """The sort of each undeclared (predicate, position)."""
    parent: dict[Hashable, Hashable] = {}

    def root(item: Hashable) -> Hashable:
        while (above := parent.setdefault(item, item)) != item:
            parent[item] = parent[above]
            item = above
        return item

    given: list[tuple[Hashable, str]] = []
    for index, formula in enumerate(formulas):
        for scoped, mentions in grouped(formula.mentions).items():
            for mention in mentions:
                if mention.atom is None:
                    continue
                sort = sort_of(mention, declared)
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
        sorts = {sort for mention in mentions if (sort := sort_of(mention, predicates)) is not None}
        resolved[scoped] = min(sorts - {ENTITY}, default=ENTITY)
    return resolved


def variables(symbols: Symbols) -> Iterator[Diagnostic]:
    for kind, statement in symbols.stated():
        for argument in statement.atom.arguments:
            if isinstance(argument, ast.Variable):
                name = argument.name
                message = f"`{name}` is a variable (it starts upper-case), and a {kind} is about entities"
                hint = f"an entity is written {format_string(name)} or in lower case; for all entities write a rule"
                yield error(f"variable-in-{kind}", argument.span, message, hint)
    for formula in symbols.formulas:
        yield from _quantifiers(formula)
        yield from _as_formulas(formula)
        yield from _bound_and_free(formula)
        yield from _once(formula, symbols)


def _quantifiers(formula: Formula) -> Iterator[Diagnostic]:
    used = {id(mention.binder) for mention in formula.mentions if mention.binder is not None}
    bound: list[tuple[ast.Binder, ast.Variable, ast.Variable | None]] = []  # with the one that is bound around it
    for visit in formula.visits:
        node, known = visit.node, visit.scope
        if isinstance(node, ast.Atom) and not node.arguments:
            used.add(id(known.get(node.name)))
        if isinstance(node, ast.Binder):
            for variable in node.variables:
                bound.append((node, variable, known.get(variable.name)))
                used.add(id(known.get(variable.name)))  # bound again: a finding of its own
                known = {**known, variable.name: variable}
    for node, variable, outer in bound:
        name = variable.name
        if outer is not None:
            message = f"`{name}` is already bound on {place(outer.span, variable.span)}, column {outer.span.column}"
            yield error("shadowed-variable", variable.span, message, "give the inner variable another name")
        elif id(variable) not in used:
            word = node.name if isinstance(node, ast.Aggregate) else type(node).__name__.lower()
            message = f"`{word}` binds `{name}`, which does not occur below it"
            hint = f"take `{name}` out, or check its spelling below"
            yield error("unused-variable", variable.span, message, hint)
    for node in formula.nodes(ast.Exists):
        if isinstance(node.body, ast.Implies):
            one = ", ".join(variable.name for variable in node.variables)
            message = f"this holds as soon as one {one} makes the left side of `->` false, or the right side true"
            closed = f"(exists {one}: {node.body.antecedent.span.on_one_line}) -> ..."
            hint = f"close the quantifier before the arrow: `{closed}`; or write `&` if both are of the same {one}"
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
    quantifiers = reversed(list(formula.nodes(ast.Forall, ast.Exists, ast.Aggregate)))
    bound = {variable.name: variable for quantifier in quantifiers for variable in quantifier.variables}
    seen: set[str] = set()
    for mention in formula.mentions:
        name = mention.name
        if mention.binder is None and name in bound and not mention.quoted and name not in seen:
            seen.add(name)
            where = f"{place(bound[name].span, mention.span)}, column {bound[name].span.column}"
            message = f"`{name}` is outside the scope of the quantifier that binds it ({where})"
            hint = f"extend the scope to the end by a colon, `{name}: ...`, or by parentheses; or use another name"
            yield error("bound-and-free", mention.span, message, hint)


def _once(formula: Formula, symbols: Symbols) -> Iterator[Diagnostic]:
    """Warnings about free variables that occur once outside queries: they join nothing, and are often misspelt; and
    about those, and all of a query, that have the name of an entity."""
    free = [mention for mention in formula.mentions if mention.variable and mention.binder is None]
    counts = Counter(mention.name for mention in free)
    query = formula.kind == "query"
    named = namesakes(symbols, (name for name, count in counts.items() if query or count == 1))
    bare = {atom.name for atom in formula.nodes(ast.Atom) if not atom.arguments}
    for mention in free:
        name = mention.name
        if name in named:
            named.remove(name)
            yield variable_like_entity(mention.span, name, warning)
        elif counts[name] == 1 and not query and mention.atom is not None and name not in bare:
            message = f"`{name}` occurs once in this {formula.kind}, so it joins nothing"
            compared = (
                node for node in formula.nodes(ast.Comparison) if any(atom is mention.atom for atom in atoms(node))
            )
            about = next(compared, mention.atom).span.on_one_line
            hint = f"check its spelling; if any will do, write `(exists {name}: {about})`, if all, `forall {name}: ...`"
            yield warning("single-variable", mention.span, message, hint)


def rules(symbols: Symbols) -> Iterator[Diagnostic]:
    named = symbols.statements(ast.RuleStatement, ast.AxiomStatement)
    for before, statement in repeated((rule for rule in named if rule.name), lambda rule: rule.name):
        kinds = ["rule" if isinstance(rule, ast.RuleStatement) else "axiom" for rule in (before, statement)]
        span = find(statement.span, statement.name or "", len(kinds[1]))
        message = f"`{statement.name}` already names the {kinds[0]} on {place(before.span, span)}"
        yield error("duplicate-rule-name", span, message, "give this one another name")
    for formula in symbols.formulas:
        for (name, binder), mentions in grouped(formula.mentions).items():
            if not binder and name.lower() not in NULLS and all(mention.atom is None for mention in mentions):
                message = f"`{name}` occurs only in comparisons: no atom restricts it"
                hint = f"add an atom that mentions it, `Person({name}) & ...`; propositions are joined by `<->`"
                yield error("unsafe-variable", mentions[0].span, message, hint)
        for mention in _loose(formula):
            if variable_sorts(formula, symbols.resolved).get((mention.name, 0)) == ENTITY:
                name = mention.name
                message = f"`{name}` in the head ranges over every entity: no positive part of the body mentions it"
                what = f"add an atom about `{name}` to the body, `Person({name}) & ...`"
                yield warning("unsafe-variable", mention.span, message, f"{what}, or declare the predicates' sorts")


def _loose(formula: Formula) -> Iterator[Mention]:
    """The free head variables of a rule that its body does not restrict; those that occur only once are reported
    elsewhere."""
    root = unweighted(formula.matrix)
    if formula.kind != "rule" or not isinstance(root, ast.Implies):
        return
    free = {name: mentions for (name, binder), mentions in grouped(formula.mentions).items() if not binder}
    inside = {id(atom) for atom in heads(root)} if free else set()
    arguments = (term for atom in (*positive(root.antecedent), *measured(root.antecedent)) for term in atom.arguments)
    held = {term.name for term in arguments if isinstance(term, ast.Variable)} if free else set()
    for mentions in (mentions for name, mentions in free.items() if len(mentions) > 1 and name not in held):
        yield from [mention for mention in mentions if id(mention.atom) in inside][:1]
