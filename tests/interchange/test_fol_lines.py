"""Lines as people and language models write them, each with the statements that it becomes and the liberties taken."""

from __future__ import annotations

import pytest

import lnnkit

READ = [
    ("∀xP(x)→Q(x)", ["axiom P(X) -> Q(X)"], ["run-together", "scope-extended"]),
    ("∀x (P(x)) → Q(x)", ["axiom P(X) -> Q(X)"], ["scope-extended"]),
    ("forall x: P(x) => ~Q(x)", ["axiom P(X) -> ~Q(X)"], []),
    ("all x (P(x) -> -Q(x)).", ["axiom P(X) -> ~Q(X)"], []),
    ("∀x: P(x) → ¬∃y: Q(y) ∧ R(x, y)", ["axiom P(X) -> ~exists Y: Q(Y) & R(X, Y)"], []),
    ("(∀x: P(x)) → Q(ann)", ['axiom (forall X: P(X)) -> Q("ann")'], []),
    ("(∀x)(∃y)(R(x,y))", ["axiom forall X: exists Y: R(X, Y)"], []),
    ("forall(x, P(x) -> exists(y, R(x,y)))", ["axiom P(X) -> exists Y: R(X, Y)"], []),
    (r"$\forall x\, (P(x) \to Q(x))$", ["axiom P(X) -> Q(X)"], []),
    ("∀x y (R(x, y) && P(y) || Q(x))", ["axiom R(X, Y) & P(Y) | Q(X)"], ["precedence"]),
    ("∃x P(x) → Q(a)", ['axiom (exists X: P(X)) -> Q("a")'], ["quantifier-scope"]),
    ("∃!x P(x)", ["axiom exists X: P(X) & forall X1: P(X1) -> X1 = X"], []),
    ("P(a) ⊕ Q(a) ⊕ R(a)", ['axiom (P("a") xor Q("a")) xor R("a")'], ["connective-chain"]),
    ("A → B → C", ["axiom A -> B -> C"], ["connective-chain"]),
    ("Code(burger) ∧ Mac(burger))", ["fact Code(burger)", "fact Mac(burger)"], ["bracket-dropped"]),
    ("∀x (P(x) → (Q(x) ∨ R(x))", ["axiom P(X) -> Q(X) | R(X)"], ["bracket-added"]),
    ("Superhero(captain america)", ['fact Superhero("captain america")'], ["name-of-words"]),
    ("Is Big(anna) and not Very Tall(bob)", ['fact "Is Big"(anna)', 'fact ~"Very Tall"(bob)'], ["name-of-words"] * 2),
    ("P(x) → Q(x)", ["axiom P(X) -> Q(X)"], ["free-variable"]),
    ("DiedIn(mao, y1976)", ["fact DiedIn(mao, y1976)"], []),
    ("P(a) v Q(b)", ['axiom P("a") | Q("b")'], ["letter-as-or"]),
    ("∀x ∀x P(x)", ["axiom forall X: P(X)"], ["unused-variable"]),
    ("P(a)\nP(a, b)", ['fact P("a")', 'fact P_2("a", "b")'], ["kept-apart"]),
    ("Women(ann)\nwomen(ann)", ["fact Women(ann)", "fact women(ann)"], ["nearly-same-names"]),
    ("Superman = clark\nFlies(clark)", ['fact Flies("Superman")'], ["another-name"]),
    ("P(c) → a = b", ['axiom P("c") -> false'], ["unique-names"]),
    ("age(tom) > 5 → Old(tom)", ['axiom age("tom") > 5 -> Old("tom")'], []),
    ("age(tom) = 5", ["fact age(tom) = 5"], []),
    ("- P(ann)\n- ¬P(bob)", ["fact P(ann)", "fact ~P(bob)"], ["dash-as-bullet"]),
    ("1. P(ann) ::: words", ["fact P(ann)"], []),
    ("P(ann) ∧\nQ(bob)", ["fact P(ann)", "fact Q(bob)"], []),
    ("**Premises:**\nP(ann)\n**Conclusion:**\n¬P(bob)", ["fact P(ann)", 'query ~P("bob")'], []),
    ("Premise 1: P(ann)\nConclusion 1: P(bob)", ["fact P(ann)", 'query P("bob")'], []),
    ("∴ P(ann)", ['query P("ann")'], []),
    ("\\forall x (P(x) \\rightarrow Q(x))\n\\vdash Q(a)", ["axiom P(X) -> Q(X)", 'query Q("a")'], []),
]


def statements(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(("axiom", "fact", "query"))]


@pytest.mark.parametrize(("line", "expected", "liberties"), READ, ids=[line for line, _, _ in READ])
def test_the_statement_of_a_line(line: str, expected: list[str], liberties: list[str]) -> None:
    imported = lnnkit.from_fol(line)
    assert statements(imported.text) == expected
    assert [note.code for note in imported.notes] == liberties
    assert all(f"# note: {note.message}" in imported.text for note in imported.notes)
    assert all(note.severity == "warning" for note in imported.notes)
    lnnkit.loads(imported.text)


REFUSED = [
    ("Country(x) Nearby(x)", "syntax", 12),
    ("All men are mortal.", "no-formula", 1),
    ("P(a ∧ b)", "formula-as-term", 3),
    ("P(1 + 2)", "arithmetic-argument", 3),
    ("∀x (x > 5 → Big(x))", "individual-as-number", 5),
    ("P ⊢ Q", "entails-within", 3),
    ("∀x∈S P(x)", "stray-character", 3),
    ("∀x (x)", "variable-as-formula", 5),
    ("P ∧", "syntax", 3),
    ("P ∧ ∀x:", "syntax", 7),
    ("(P ∧ ∀x: )", "syntax", 10),
    ("P(a), Q(b)", "syntax", 5),
    ("¬" * 500 + "P", "too-deep", 1),
]


@pytest.mark.parametrize(("line", "code", "column"), REFUSED, ids=[code for _, code, _ in REFUSED])
def test_what_cannot_be_read(line: str, code: str, column: int) -> None:
    with pytest.raises(lnnkit.ProgramError) as problem:
        lnnkit.from_fol(f"Good(ann)\n{line}\n", "claims.txt")
    (found,) = problem.value.diagnostics
    assert (found.code, found.path, found.line, found.column) == (code, "claims.txt", 2, column)


def test_all_errors_are_found_at_once_or_left_out() -> None:
    text = "P(ann)\nQ(ann) Q(bob)\nall of this is prose\nR(ann)\n"
    with pytest.raises(lnnkit.ProgramError) as problem:
        lnnkit.from_fol(text)
    assert [each.line for each in problem.value.diagnostics] == [2, 3]
    imported = lnnkit.from_fol(text, skip_errors=True)
    assert statements(imported.text) == ["fact P(ann)", "fact R(ann)"]
    assert [note.message.startswith("left out") for note in imported.notes] == [True, True]


@pytest.mark.parametrize("depth", [141, 200, 500, 2000])
def test_a_line_that_nests_too_deeply_is_left_out_as_any_other_error(depth: int) -> None:
    text = f"P(ann)\n{'¬' * depth}P(bob)\nall of this is prose\n"
    with pytest.raises(lnnkit.ProgramError) as problem:
        lnnkit.from_fol(text)
    assert [each.code for each in problem.value.diagnostics] == ["too-deep", "no-formula"]
    assert statements(lnnkit.from_fol(text, skip_errors=True).text) == ["fact P(ann)"]
