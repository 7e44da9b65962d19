"""Malformed programs: the code, the exact place and the next step of each.

The fault is marked in the text: `⟦` and `⟧` stand around what the caret must underline, and are taken out before
the text is parsed. Where nothing stands between them, the statement ends too early there.
"""

from __future__ import annotations

import pytest

from lnnkit.syntax.parse import parse

MISTAKES = [
    # other rule languages
    ("backward-arrow", "p(X) ⟦:-⟧ q(X), r(X).", "write `rule q(X) & r(X) -> p(X)`"),
    ("backward-arrow", "rule p(X) ⟦:-⟧ q(X)", "write `rule q(X) -> p(X)`"),
    ("backward-arrow", "rule r: p(X) ⟦<-⟧ q(X, Y), age(X) > 5", "write `rule r: q(X, Y) & age(X) > 5 -> p(X)`"),
    ("foreign-sign", "rule age(X) ⟦<-⟧ 5 -> P(X)", "write `< -`"),
    ("comma-conjunction", "rule A(X)⟦,⟧ B(X) -> C(X)", "write `&`"),
    ("comma-conjunction", "query (A(X)⟦,⟧ B(X))", "write `&`"),
    ("trailing-mark", "fact P(anna)⟦.⟧", "remove"),
    ("trailing-mark", "fact P(anna)⟦.⟧ fact P(bob)⟦.", "remove"),
    ("trailing-mark", "rule P(X) -> Q(X)⟦;⟧", "remove"),
    ("semicolon", "rule P(X)⟦;⟧ R(X) -> Q(X)", "`|`"),
    ("foreign-comment", "⟦%⟧ a comment", "#"),
    ("foreign-comment", "rule P(X) -> Q(X) ⟦//⟧ why", "#"),
    ("foreign-comment", "fact P(a) ⟦%⟧ why", "#"),
    ("predicate-arity", "predicate P⟦/2⟧", "predicate P(entity, entity)"),
    ("reserved-underscore", "rule P(X, ⟦_⟧) -> Q(X)", "exists"),
    ("reserved-underscore", "rule ⟦_x⟧ -> Q", "exists"),
    ("foreign-sign", "rule ⟦\\+⟧ P(X) -> Q(X)", "`~`"),
    # programming languages and SQL
    ("foreign-sign", "rule A ⟦&&⟧ B -> C", "`&`"),
    ("foreign-sign", "rule A ⟦||⟧ B -> C", "`|`"),
    ("foreign-sign", "rule age(X) ⟦==⟧ 5 -> C", "`=`"),
    ("foreign-sign", 'load P from "f" where p ⟦==⟧ "x"', "`=`"),
    ("foreign-sign", "rule age(X) ⟦=<⟧ 5 -> C", "`<=`"),
    ("foreign-sign", "rule X ⟦<>⟧ Y -> C", "`!=`"),
    ("foreign-sign", "rule X ⟦~=⟧ Y -> C", "`!=`"),
    ("foreign-sign", "rule ⟦!⟧P(X) -> Q(X)", "`~`"),
    ("foreign-sign", "rule A & ⟦!⟧(B | C) -> Q", "`~`"),
    ("foreign-sign", "rule a ⟦**⟧ 2 > 3 -> Q", "`^`"),
    ("unknown-function", "rule ⟦tan⟧(a(X), 3) > 3 -> Q(X)", "`sin(a) / cos(a)`"),
    ("unknown-function", "rule sqrt(⟦ln⟧(a(X) + 1)) > 3 -> Q(X)", "`log(a)`"),
    ("unknown-function", "rule ⟦log10⟧(a(X) + 1) > 3 -> Q(X)", "`log(a) / log(10)`"),
    ("unknown-function", "rule ⟦mod⟧(a(X) + 1, 7) > 3 -> Q(X)", "`a - b * floor(a / b)`"),
    ("aggregate", "rule ⟦max⟧(a(X) + 1) > 3 -> Q(X)", "`(sum Y: amount(Y) where Owns(X, Y)) > 100`"),
    ("unknown-function", "query ⟦pow⟧(a(X), 2)", "`a ^ b`"),
    ("unknown-operator", "rule a(X) ⟦%⟧ 2 = 0 -> Q(X)", "`a - b * floor(a / b)`"),
    ("unknown-function", "rule ⟦Log⟧(a(X) + 1) > 3 -> Q(X)", "`log(...)`"),
    ("unknown-function", "rule ⟦atan⟧(a(X)) > 3 -> Q(X)", "`axiom sin(angle(X)) / cos(angle(X)) = a(X)`"),
    ("aggregate", "query ⟦max⟧(X: a(X) where P(X))", "an aggregate"),
    ("unknown-operator", "rule income(X) ⟦//⟧ 2 > 3 -> Q(X)", "write `/`"),
    ("unknown-operator", "rule P(X) & income(X) ⟦//⟧ debt(X) > 3 -> Q(X)", "`floor(a / b)`"),
    ("unknown-operator", "query income(X) ⟦//⟧ 12", "write `/`"),
    ("foreign-comment", "rule age(X) > 3 -> Q(X) ⟦//⟧ 3 years, says anna", "#"),
    ("foreign-comment", "rule age(X) > 3 -> Q(X) ⟦//⟧ Q(X) -> R(X)", "#"),
    ("between", "rule a(X) ⟦between⟧ 3 and b(X) -> Q(X)", "`3 <= a(X) <= b(X)`"),
    ("worded-comparison", "rule P(X) -> a(X) ⟦is⟧ 3", "`=`"),
    ("value-not-number", "fact a(bob) = ⟦old⟧", "in digits"),
    ("value-not-number", 'label a(bob) = ⟦"3"⟧', "in digits"),
    ("computed-value", "fact a(bob) = -1 ⟦/⟧ 4", "write the result"),
    ("computed-value", "fact a(bob) = 3 ⟦+⟧ 4", "write the result"),
    ("number-too-large", "rule a(X) > ⟦1e400⟧ -> Q(X)", "larger units"),
    ("capital-operator", "rule P(X) ⟦AND⟧ Q(X) -> R(X)", "`and`"),
    ("capital-operator", "rule P(X) ⟦OR⟧ Q(X) -> R(X)", "`or`"),
    ("capital-operator", "rule ⟦NOT⟧ P(X) -> R(X)", "`not`"),
    ("capital-operator", "rule ⟦NOT⟧(P(X)) -> R(X)", "`not`"),
    ("capital-operator", "rule ⟦NOT⟧(Rain) -> R(X)", "`not`"),
    ("if-then", "rule ⟦IF⟧ P(X) THEN Q(X)", "P -> Q"),
    ("if-then", "⟦if⟧ P(X) then Q(X)", "P -> Q"),
    ("broken-arrow", "rule P ⟦-->⟧ Q", "`->`"),
    ("broken-arrow", "rule P ⟦= >⟧ Q", "`->`"),
    ("broken-arrow", "rule P ⟦==>⟧ Q", "`->`"),
    ("square-brackets", "rule P⟦[⟧X] -> Q", "P(...)"),
    # quantifiers
    ("unique-exists", "axiom ⟦∃!⟧x P(x)", "exists X"),
    ("quantifier-comma", "axiom forall x ⟦y⟧: P(x, y)", "`x, y`"),
    ("quantifier-comma", "axiom forall x ⟦y⟧ (P(x, y) & Q)", "`x, y`"),
    ("quantifier-comma", "axiom forall x ⟦y⟧ P(x, y)", "`x, y`"),
    ("quantifier-period", "axiom forall x⟦.⟧ P(x)", "`:`"),
    ("quantifier-period", "axiom ∀x⟦.⟧P(x)", "`:`"),
    ("quantifier-sort", "axiom forall x ⟦in⟧ person: P(x)", "person(x)"),
    ("quantifier-sort", "axiom ∀x ⟦∈⟧ person: P(x)", "person(x)"),
    ("quantifier-word", "axiom ⟦for⟧ all x: P(x)", "forall"),
    ("quantifier-word", "axiom ⟦exist⟧ x: P(x)", "exists"),
    ("glued-quantifier", "axiom ∀⟦xP⟧(x)", "∀x P(x)"),
    ("glued-quantifier", "axiom ∀⟦xP⟧(x, y) → Q", "∀x P(x, y)"),
    ("glued-quantifier", "axiom ∀x∃⟦yLoves⟧(x, y)", "∃y Loves(x, y)"),
    # arguments
    ("argument-expression", "rule P(X⟦+⟧1) -> Q(X)", "P"),
    ("argument-expression", "rule P(⟦f⟧(X)) -> Q(X)", "variable"),
    ("argument-expression", "rule P(X ⟦or⟧ Y) -> Q(X)", "outside of `P`"),
    ("doubtful-argument", "rule P(⟦X-1⟧) -> Q(X)", '"X-1"'),
    ("doubtful-argument", "fact P(⟦Mrs.Smith⟧)", '"Mrs.Smith"'),
    ("unquoted-entity", "fact Lives(anna, New ⟦York⟧)", '"New York"'),
    ("unquoted-entity", "fact Lives(anna, U.S⟦.⟧)", '"U.S."'),
    ("unquoted-entity", "fact Shop(anna, bob⟦'⟧s)", '"bob\'s"'),
    ("single-quotes", "fact Lives(anna, ⟦'New York'⟧)", '"New York"'),
    ("single-quotes", "fact Lives(anna, ⟦“New York”⟧)", '"New York"'),
    ("bad-escape", r'import "C:⟦\d⟧ata.lnn"', r"\\"),
    # numbers and bounds
    ("thousands-separator", "rule income(X) > ⟦1,000⟧ -> Rich(X)", "`1000`"),
    ("thousands-separator", "fact income(anna) = ⟦1_000⟧", "`1000`"),
    ("decimal-comma", "rule income(X) > ⟦1,5⟧ -> Rich(X)", "`1.5`"),
    ("decimal-comma", "rule income(X) > ⟦1.000,50⟧ -> Rich(X)", "`1000.50`"),
    ("decimal-comma", "fact income(anna) = ⟦1,5⟧", "`1.5`"),
    ("missing-operator", "rule ⟦2-income⟧(X) > 3 -> Rich(X)", "`2 - income(...)`"),
    ("missing-operator", "rule debt(X) > ⟦2-income⟧(X) -> Rich(X)", "`2 - income(...)`"),
    ("missing-operator", "rule ⟦3⟧(income(X) + 1) > 3 -> Rich(X)", "`3 * (...)`"),
    ("missing-operator", "rule debt(X) > ⟦2income⟧(X) -> Rich(X)", "`2 * income(...)`"),
    ("missing-operator", "query ⟦2 age⟧(X) > 3", "`2 * age(...)`"),
    ("missing-operator", "rule P(X) & ⟦0.5 age⟧(X) > 3 -> Q(X)", "`0.5 * age(...)`"),
    ("leading-truth", "rule ⟦0.8⟧: P(X) -> Q(X)", "`rule P(X) -> Q(X) in [0.8, 1]`"),
    ("leading-truth", "rule r1: ⟦0.8⟧: P(X) -> Q(X)", "`rule r1: P(X) -> Q(X) in [0.8, 1]`"),
    ("leading-truth", "axiom ⟦0.8⟧ ~P(X) -> Q(X)", "`axiom ~P(X) -> Q(X) in [0.8, 1]`"),
    ("leading-truth", "⟦0.8⟧: P(X) -> Q(X)", "`rule P(X) -> Q(X) in [0.8, 1]`"),
    ("leading-truth", "⟦10⟧: P(X) -> Q(X)", "`rule P(X) -> Q(X) in [l, 1]`"),
    ("leading-truth", "⟦0.8⟧::p(a).", "`fact p(a) = 0.8`"),
    ("number-unit", "rule weight(X) > ⟦34 kg⟧ -> Heavy(X)", "`34`"),
    ("number-unit", "fact weight(anna) = ⟦34kg⟧", "`34`"),
    ("number-unit", "fact P(anna) = ⟦5%⟧", "`0.05`"),
    ("wrong-bounds", "fact P(anna) ⟦in (0, 1]⟧", "in [0, 1]"),
    ("interval-in-body", "rule age(X) ⟦in [18, 65]⟧ & P(X) -> Q(X)", "18 <= age(X) <= 65"),
    ("interval-in-body", "rule P(X) & (age(X) ⟦in [18, 65]⟧) -> Q(X)", "18 <= age(X) <= 65"),
    (
        "interval-in-body",
        "rule age(X) ⟦in (1, 2)⟧ -> E(X)",
        "; with each of a list: `(age(X) = 1 | age(X) = 2)`",
    ),
    ("interval-in-body", "rule A(X) ⟦in [0.9, 1]⟧ -> E(X)", "`0.9 <= A(X) <= 1`"),
    ("membership", "rule P(X, S) & S ⟦in (retired, employed)⟧ -> E(X)", "`(S = retired | S = employed)`"),
    ("membership", "rule P(X, S) & S ⟦in [retired, employed]⟧ -> E(X)", "`(S = retired | S = employed)`"),
    ("membership", 'rule P(X, S) & (S ⟦in {"a b", 2nd}⟧) -> E(X)', '`(S = "a b" | S = "2nd")`'),
    ("membership", 'query P(X, S) & S ⟦in ["retired", "employed"]⟧', '`(S = "retired" | S = "employed")`'),
    ("membership", "query S ⟦in (retired)⟧", "`S = retired`"),
    ("membership", "rule status(X) ⟦in (old, ill)⟧ -> E(X)", "`(status(X, old) | status(X, ill))`"),
    ("interval-in-body", "query A(X) ⟦in [0.9, 1]⟧ & B(X)", "`0.9 <= A(X) <= 1`"),
    ("query-bounds", "query P(X) ⟦in [0, 1]⟧", "remove"),
    ("wrong-bounds", "fact P(anna) ⟦= [0.2, 0.6]⟧", "in [0.2, 0.6]"),
    ("wrong-bounds", "fact P(anna) ⟦in 0.7⟧", "= 0.7"),
    ("wrong-bounds", "rule P -> Q ⟦[0.5, 1]⟧", "in [0.5, 1]"),
    ("wrong-bounds", "rule P(X) -> Q(X) ⟦0.5⟧", "in [0.5, 1]"),
    ("wrong-bounds", "rule P(X) -> Q(X) ⟦: 0.5⟧", "in [0.5, 1]"),
    ("reserved-word", "fact ⟦and⟧(a)", "another name"),
    ("reserved-word", "predicate ⟦in⟧(entity)", "`is-in`"),
    ("reserved-word", "rule P(X) -> ⟦or⟧(X)", "another name"),
    ("if-then", "rule P(X) -> Q(X) ⟦else⟧ R(X)", "~P -> R"),
    ("interval-in-body", "rule age(X) ⟦in (18, 65)⟧ -> P(X)", "`18 < age(X) < 65`"),
    ("interval-in-body", "rule age(X) ⟦in (18, 65]⟧ & Q(X) -> P(X)", "`18 < age(X) <= 65`"),
    ("missing-equals", "fact P(anna) ⟦0.7⟧", "= 0.7"),
    ("truth-as-value", "fact P(anna) = ⟦true⟧", "`1`"),
    ("fact-formula", "fact P(anna)⟦,⟧ P(bob)", "`fact`"),
    ("fact-formula", "fact P(X) ⟦->⟧ Q(X)", "rule"),
    ("fact-formula", "fact age(anna) ⟦> 5⟧", "in [5, inf]"),
    ("fact-formula", "fact A(anna) ⟦<= 0.3⟧", "`in [-inf, 0.3]`"),
    ("truth-as-value", "fact A(anna) = ⟦TRUE⟧", "`1`"),
    ("learnable-form", "rule age(X) > ⟦? cut⟧ -> P(X)", "?cut"),
    ("learnable-form", "rule age(X) > ⟦?=50⟧ -> P(X)", "?50"),
    ("marked-variable", "rule P(X, ⟦?who⟧) -> Q(X)", "a number to be learned"),
    ("marked-variable", "number age(⟦?⟧)", "a number to be learned"),
    ("marked-variable", 'load P from "f.csv" (⟦?⟧)', "a number to be learned"),
    ("learnable-beside-arithmetic", "rule age(X) > ⟦?c=50⟧ * 2 -> P(X)", "(?c=50)"),
    ("number-too-large", "fact age(anna) = ⟦1e400⟧", ""),
    # connectives, weights, groups
    ("chained-connective", "axiom A <-> B ⟦<->⟧ C", "parentheses"),
    ("chained-connective", "axiom A xor B ⟦xor⟧ C", "parentheses"),
    ("negative-weight", "rule A@⟦-1⟧ & B -> C", "~"),
    ("misplaced-attributes", "rule (A)⟦{⟧bias: 1} & B -> C", "(A & B)"),
    ("misplaced-attributes", "rule A⟦{⟧bias: 1} & B -> C", "(A & B)"),
    ("unclosed-group", "rule ⟦(⟧A & B -> C", "`)`"),
    ("unclosed-group", "rule ⟦(⟧A & B -> C in [0.8, 1]", "`)`"),
    ("unclosed-group", "axiom ∀x ⟦(⟧A(x) → (B(x) ∨ C(x))", "`)`"),
    ("unclosed-group", "fact P⟦(⟧anna, bob", "`)`"),
    ("unmatched-bracket", "rule A & B⟦)⟧ -> C", "remove"),
    ("unclosed-string", 'fact P(⟦"anna, bob)⟧', '"'),
    ("unclosed-string", 'load P from ⟦"f.csv⟧\nfact P(a)', '"'),
    # keywords, declarations, tables
    ("missing-keyword", "⟦P⟧(X) -> Q(X)", "write `rule P(X) -> Q(X)`"),
    ("missing-keyword", "⟦P⟧(anna)", "write `fact P(anna)`"),
    ("missing-keyword", "⟦rul⟧ P -> Q", "`rule`"),
    ("missing-keyword", "⟦Rule⟧: P -> Q", "`rule`"),
    ("missing-keyword", "⟦Fact⟧ P(anna)", "`fact`"),
    ("missing-keyword", "⟦fact⟧(P(anna))", "space"),
    ("missing-keyword", "fact P(a)\n  ⟦Q⟧(b)", "`fact Q(b)`"),
    ("rule-name", "rule ⟦my rule⟧: P -> Q", '`"my rule":`'),
    ("aggregate", "rule ⟦min⟧(X) -> Q(X)", '"min"'),
    ("reserved-name", "predicate ⟦min⟧(person)", '"min"'),
    ("reserved-name", "predicate ⟦abs⟧(person)", '"abs"'),
    ("unquoted-path", "import ⟦people.lnn⟧", '"people.lnn"'),
    ("unquoted-path", "load P from ⟦f.csv⟧ (a, b)", '"f.csv"'),
    ("bad-column", 'load P from "f" (⟦0⟧, 1)', '"0"'),
    ("bad-column", 'load P from "f" ⟦(_, _)⟧', "name the columns"),
    ("bad-column", 'load P from "f" where ⟦_⟧ = "x"', '"_"'),
    ("unquoted-value", 'load P from "f" where p in ("a", ⟦knows⟧)', '"knows"'),
    ("unquoted-value", 'load P from "f" missing ⟦NA⟧', '"NA"'),
    ("capital-operator", 'load P from "f" ⟦WHERE⟧ p = 1', "`where`"),
    ("capital-operator", 'label P from "f" where p ⟦IS⟧ NULL', "`is`"),
    ("bad-condition", 'load P from "f" where p = 1 ⟦or⟧ p = 2', "in ("),
    ("bad-condition", 'load P from "f" where p = 1⟦,⟧ q = 2', "`and`"),
    ("bad-condition", 'load P from "f" where ⟦not⟧ p = 2', "`!=`"),
    ("bad-condition", 'load P from "f" where p ⟦= null⟧', "`is null`"),
    ("bad-condition", 'load P from "f" where p is not ⟦None⟧', "`null`"),
    ("bad-condition", 'load P from "f" where p ⟦>⟧ true', "`= true`"),
    ("bad-condition", 'load P from "f" where p ⟦<?>⟧ 1', "="),
    ("repeated-clause", 'load P from "f" no header ⟦no header⟧', "keep one"),
    ("bad-delimiter", 'load P from "f" delimiter ⟦"tab"⟧', r'"\t"'),
    ("bad-trust", "fact P(a) ⟦trust 80⟧", "`trust 0.8`"),
    ("bad-trust", "fact P(a) = 0.5 ⟦trust -1⟧", "full trust"),
    ("bad-trust", 'load P from "f" ⟦trust ?⟧', "trust 0.8"),
    ("bad-trust", 'label P from "f" ⟦trust 1⟧', "take it out"),
    ("unknown-logic", "logic ⟦fuzzy⟧", "lukasiewicz"),
    ("unsupported-version", "lnnkit ⟦2⟧", "lnnkit 1"),
    ("late-version", "fact P(a)\n⟦lnnkit 1⟧", "top"),
]

PLAIN = [
    ("rule A & ⟦->⟧ B", "a formula"),
    ("rule A ->⟦⟧  # to be done\nfact P(a)", "a formula"),
    ("axiom⟦⟧", "a formula"),
    ("fact P(anna) =⟦⟧", "a number"),
    ("fact P(⟦,⟧ anna)", "an argument"),
    ("axiom A(x) ⟦B⟧(x)", "a connective"),
    ("rule A -> B in [0.5 ⟦0.7⟧, 1]", "`,`"),
    ('load P ⟦in⟧ "f.csv"', "`from`"),
    ("import⟦⟧", "a text in double quotes"),
    ("sort person ⟦closed⟧", "`open`"),
    ("rule x⟦.⟧y > 5 -> Q", "a connective"),
    ("rule ⟦§⟧P -> Q", "a formula"),
    ("axiom ∀ ⟦(⟧P)", "a name"),
    ("rule nau(a ⟦&⟧ b) > 2 -> Q", "`)`"),
    ("rule A@⟦&⟧ B -> C", "a number"),
    ("rule age(X) > 60 ⟦weight⟧(X) -> P(X)", "a connective"),
    ("rule (A & B){bias: 1⟦.⟧&05} -> C", "`,` or `}`"),
    ("rule nau(a ⟦b⟧) > 2 -> Q", "`,` or `)`"),
    ("rule nau(⟦)⟧ > 0 -> P(X)", "a number or term"),
    ("rule A@0.5⟦@⟧0.7 & B -> C", "a connective"),
    ("rule⟦:⟧ P -> Q", "a formula"),
    ("fact age(a) = ⟦0x1F⟧", "a number"),
    ("fact a(bob) = 3 ⟦in⟧ [0, 1]", "the end of the statement"),
    ("fact P(anna) in [0, 1⟦)⟧", "`]`"),
    ("predicate ⟦?⟧", "a name"),
]


def marked(text: str) -> tuple[str, int, int]:
    """The text without its marks, and the range that they enclose."""
    start = text.index("⟦")
    end = text.index("⟧") - 1
    return text.replace("⟦", "").replace("⟧", ""), start, end


@pytest.mark.parametrize(("code", "text", "hint"), MISTAKES)
def test_a_mistake_has_its_code_place_and_next_step(code: str, text: str, hint: str) -> None:
    program, start, end = marked(text)
    found = parse(program)[1]
    assert [diagnostic.code for diagnostic in found] == [code]
    span = found[0].span
    assert span is not None and (span.start, span.end) == (start, end)
    assert hint in found[0].hint
    assert span.line == program.count("\n", 0, start) + 1
    assert span.column == len(program[:start].rpartition("\n")[2]) + 1


@pytest.mark.parametrize(("text", "expected"), PLAIN)
def test_a_plain_error_names_what_was_expected(text: str, expected: str) -> None:
    program, start, end = marked(text)
    (diagnostic,) = parse(program)[1]
    assert diagnostic.code == "syntax"
    assert diagnostic.span is not None and (diagnostic.span.start, diagnostic.span.end) == (start, end)
    assert expected in diagnostic.message


@pytest.mark.parametrize(
    "text",
    [
        "rule label: P -> Q",
        "rule IFFY(X) & ANDREW(X) -> NOTE(X)",
        "fact Likes(or, and)",
        "rule for-all & all -> exist",
        "rule age(X) <-5 -> Cold(X)",
        "rule age(X) - 5 > -3 -> Cold(X)",
        'fact P("a.b", "50%", "// no comment", "\'quoted\'", "# this is text")',
        "fact P(1,000)",
        "axiom ∀x(P(x))",
        "axiom forall x (P(x))",
        "rule x = y & P -> Q",
        "query all(X)",
        "rule if(X) -> then(X)",
    ],
)
def test_what_only_looks_like_a_mistake_is_none(text: str) -> None:
    assert parse(text)[1] == []
