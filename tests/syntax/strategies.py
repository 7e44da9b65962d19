"""Hypothesis strategies for every program that the parser can give."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

from hypothesis import strategies as st

from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Source, Span
from lnnkit.syntax.identifiers import is_name

HERE = Span(Source("<built>", ""), 0, 0)

_ODD = (
    "fact", "load", "label", "rule", "open", "closed", "from", "where", "no", "header", "abs", "nau", "min", "AND",
    "has part", "true", "and", "not", "in", "inf", "x-1", "gpt-3", "größe", "名前", "café", "ǅabc", "हिन्दी", "notable",
    "in-law", "e5", "", "7", "a b", 'say "hi"', "back\\slash", "#no comment", "new\nline", "tab\t", ":-", "lnnkit",
)  # fmt: skip
_ENTITIES = (
    "anna", "a", "7", "-5", "3.5", "007", "2024-01-15", "3com", "ex:anna", "c++", "New York", "X", "Anna", "x", "y",
    "true", "or", "mr.", "_", "é", "c+d", "-", "a--b", "C++", "Ex:a", "e\u0301\u0323", "\u0301a", "a,b", "",
)  # fmt: skip


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


words = st.one_of(st.sampled_from(("P", "Q", "age", "has-part", "risk")), st.sampled_from(_ODD), st.text(max_size=4))
names = words.map(_nfc)
variable_names = st.one_of(
    st.sampled_from(("X", "Y", "x", "y", "Größe", "has-part", "ǅabc", "हि", "fact", "open")),
    st.text(alphabet=st.characters(categories=("L", "M", "Nd")), min_size=1, max_size=3).map(_nfc).filter(is_name),
)
entities = st.one_of(st.sampled_from(_ENTITIES), st.text(max_size=5)).map(_nfc)
keys = st.sampled_from(("bias", "logic", "scale", "weight", "power", "from", "größe"))

finite = st.one_of(
    st.integers(-(10**20), 10**20), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from((0, 1, 0.7))
)
numbers = st.builds(
    ast.Number, span=st.just(HERE), value=st.one_of(finite, st.sampled_from((float("inf"), -float("inf"))))
)
_learned = st.none() | st.sampled_from(("a", "cut-off", "größe", "e5", "inf2"))
learnables = st.builds(
    ast.Learnable,
    span=st.just(HERE),
    name=_learned,
    initial=st.none() | finite,
)
values = numbers | learnables
lists = st.recursive(
    st.builds(ast.ValueList, span=st.just(HERE), items=st.lists(values, min_size=1, max_size=3).map(tuple)),
    lambda inner: st.builds(
        ast.ValueList, span=st.just(HERE), items=st.lists(inner, min_size=1, max_size=2).map(tuple)
    ),
    max_leaves=3,
)
weights = values.filter(lambda value: not ((value.value if isinstance(value, ast.Number) else value.initial) or 0) < 0)
attributes = st.lists(
    st.builds(ast.Attribute, span=st.just(HERE), key=keys, value=values | lists | names), max_size=2
).map(tuple)
bounds = st.none() | st.builds(ast.Bounds, span=st.just(HERE), lower=values, upper=values)
exact = values.map(lambda value: ast.Bounds(span=HERE, lower=value, upper=value, exact=True))


def is_free_variable(text: str) -> bool:
    """Whether an argument written bare outside quantifiers is a variable, by the language page."""
    upper = unicodedata.category(text[0]) in ("Lu", "Lt")
    return upper and not (text[-1].isdecimal() and "-" in text)


def atoms(scope: tuple[str, ...]) -> st.SearchStrategy[ast.Atom]:
    """Atoms whose variables are upper-case or bound in ``scope``."""
    constants = st.builds(ast.Constant, span=st.just(HERE), text=entities)
    free = variable_names.filter(is_free_variable) | st.just("X")
    bound = st.sampled_from(scope) if scope else st.just("X")
    variables = st.builds(ast.Variable, span=st.just(HERE), name=free | bound)
    arguments = st.lists(constants | variables, max_size=3).map(tuple)
    return st.builds(ast.Atom, span=st.just(HERE), name=names, arguments=arguments)


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3, scope: tuple[str, ...] = ()) -> ast.Expression:
    """Any expression, sensible or not: the checker tells truth from number, not the parser."""
    leaves = st.one_of(
        atoms(scope),
        st.builds(ast.Entity, span=st.just(HERE), text=entities),
        st.builds(ast.Truth, span=st.just(HERE), value=st.booleans()),
        values,
    )
    if depth == 0:
        return draw(leaves)
    inner = expressions(depth - 1, scope)
    kind = draw(st.integers(0, 16))
    match kind:
        case 0:
            return ast.Not(span=HERE, operand=draw(inner))
        case 1:
            return ast.Weighted(span=HERE, operand=draw(inner), weight=draw(weights))
        case 2 | 3:
            node = ast.And if kind == 2 else ast.Or
            operands = tuple(draw(st.lists(inner, min_size=2, max_size=4)))
            return node(span=HERE, operands=operands, attributes=draw(attributes))
        case 4:
            return ast.Implies(span=HERE, antecedent=draw(inner), consequent=draw(inner), attributes=draw(attributes))
        case 5 | 6:
            node = ast.Iff if kind == 5 else ast.Xor
            return node(span=HERE, left=draw(inner), right=draw(inner), attributes=draw(attributes))
        case 7 | 8:
            bound = tuple(draw(st.lists(variable_names, min_size=1, max_size=2)))
            variables = tuple(ast.Variable(span=HERE, name=name) for name in bound)
            body = draw(expressions(depth - 1, scope + bound))
            return (ast.Forall if kind == 7 else ast.Exists)(span=HERE, variables=variables, body=body)
        case 9:
            operands = tuple(draw(st.lists(inner, min_size=2, max_size=3)))
            relation: st.SearchStrategy[ast.ComparisonOperator] = st.sampled_from(
                (">", "<", ">=", "<=", "=", "!=", "<?>")
            )
            operators: tuple[ast.ComparisonOperator, ...] = tuple([draw(relation) for _ in operands[1:]])
            return ast.Comparison(span=HERE, operands=operands, operators=operators, attributes=draw(attributes))
        case 10:
            operand = draw(inner.filter(lambda node: not isinstance(node, ast.Number)))
            return ast.Negate(span=HERE, operand=operand)
        case 11 | 12:
            operator = draw(st.sampled_from(("+", "-", "*", "/", "^")))
            return ast.Arithmetic(span=HERE, operator=operator, left=draw(inner), right=draw(inner))
        case 13:
            name = draw(st.sampled_from(("abs", "sqrt", "exp", "log", "floor", "round", "min", "max")))
            operands = tuple(draw(st.lists(inner, min_size=2 if name in ("min", "max") else 1, max_size=3)))
            return ast.Function(span=HERE, name=name, operands=operands)
        case 14:
            name = draw(st.sampled_from(("nac", "nalu", "inalu", "nau", "nmu", "npu", "realnpu")))
            operands = tuple(draw(st.lists(inner, min_size=1, max_size=3)))
            return ast.Unit(span=HERE, name=name, operands=operands, attributes=draw(attributes))
        case 15:
            operands = tuple(draw(st.lists(inner, min_size=1, max_size=3)))
            return ast.UnknownFunction(span=HERE, name=draw(_learned), operands=operands)
        case _:
            return draw(leaves)


columns = names | st.integers(1, 99)
cells = entities | st.booleans() | finite | st.sampled_from((float("inf"), -float("inf")))


def _condition(operator: ast.Condition, least: int, most: int) -> st.SearchStrategy[ast.Where]:
    kinds = entities | finite if operator in ("<", "<=", ">", ">=") else cells
    values = st.lists(kinds, min_size=least, max_size=most).map(tuple)
    return st.builds(ast.Where, span=st.just(HERE), column=columns, values=values, operator=st.just(operator))


def _pair(operator: ast.Condition) -> st.SearchStrategy[ast.Where]:
    other = st.builds(
        ast.NamedColumn, span=st.just(HERE), name=variable_names.filter(lambda name: name.lower() != "null")
    )
    return st.builds(
        ast.Where, span=st.just(HERE), column=columns, values=st.just(()), operator=st.just(operator), other=other
    )


conditions = st.one_of(
    *[_condition(operator, 1, 1) for operator in ("=", "!=", "<", "<=", ">", ">=")],
    *[_pair(operator) for operator in ("=", "!=", "<", "<=", ">", ">=")],
    _condition("in", 1, 3),
    _condition("is null", 0, 0),
    _condition("is not null", 0, 0),
)
trusts = st.none() | st.sampled_from((0, 1)) | st.floats(0, 1).map(abs)
tables = st.builds(
    ast.Table,
    span=st.just(HERE),
    path=names,
    columns=st.none() | st.lists(columns | st.none(), min_size=1, max_size=3).filter(any).map(tuple),
    where=st.lists(conditions, max_size=2).map(tuple),
    header=st.booleans(),
    missing=st.lists(entities, max_size=2).map(tuple),
    delimiter=st.none() | st.sampled_from((";", "\t", "|", ",", " ", "\\", "'")),
    decimal=st.sampled_from((".", ",")),
    encoding=st.none() | st.sampled_from(("latin-1", "utf-16", "cp1252")),
    trim=st.booleans(),
    trust=trusts,
)
label_tables = tables.map(lambda table: replace(table, trust=None))
_here, _sorts, _maybe = (st.just(HERE), st.lists(names, max_size=3).map(tuple), st.booleans())
statements = st.one_of(
    st.builds(ast.LogicStatement, span=_here, logic=st.sampled_from(("lukasiewicz", "product", "godel"))),
    st.builds(ast.SortStatement, span=_here, name=names, open=_maybe),
    st.builds(ast.PredicateStatement, span=_here, name=names, sorts=_sorts, closed=_maybe),
    st.builds(ast.NumberStatement, span=_here, name=names, sorts=_sorts),
    st.builds(ast.ImportStatement, span=_here, path=names),
    st.builds(ast.LoadStatement, span=_here, name=names, table=tables, negated=_maybe),
    st.builds(ast.LabelTableStatement, span=_here, name=names, table=label_tables, negated=_maybe),
    st.builds(ast.FactStatement, span=_here, atom=atoms(()), negated=_maybe, bounds=bounds | exact, trust=trusts),
    st.builds(ast.LabelStatement, span=_here, atom=atoms(()), negated=_maybe, bounds=bounds | exact),
    st.builds(ast.RuleStatement, span=_here, name=st.none() | names, formula=expressions(), bounds=bounds),
    st.builds(ast.AxiomStatement, span=_here, name=st.none() | names, formula=expressions(), bounds=bounds),
    st.builds(ast.QueryStatement, span=_here, formula=expressions()),
)
programs = st.builds(
    ast.Program, span=_here, statements=st.lists(statements, max_size=4).map(tuple), version=st.none() | st.just(1)
)
