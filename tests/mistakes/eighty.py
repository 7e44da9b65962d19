"""Mistakes of a first hour: a line as it comes from another language or from haste, and the line that follows
the hint.

The fault is marked in the wrong line: `⟦` and `⟧` stand around what the finding points at. ``said`` is what the hint
says to write; it stands in the right line too, unless it is a word of advice (``advice``).
"""

from __future__ import annotations

from dataclasses import dataclass

PRELUDE = """\
number age(person)
date start(person)
number income(person)
fact age(ann) = 34
fact age(bob) = 12
fact income(ann) = 5000
fact Person(ann)
fact Person(bob)
fact Parent(ann, bob)
fact City(ann, "New York")
fact Cough(ann) = 0.7
fact ~Cough(bob)
"""

FILES = {
    "people.csv": "name,years,town\nann,34,Rome\nbob,12,Oslo\n",
    "plain.csv": "ann,34\nbob,12\n",
    "truths.csv": "name,truth\nann,0.9\nbob,0.1\n",
    "triples.tsv": "ann\tknows\tbob\nbob\tlikes\tann\n",
    "data/towns.csv": "town\nRome\n",
    "dates.csv": "name,start\nann,2020-01-01\n",
    "more.lnn": "fact Happy(ann)\n",
}


@dataclass(frozen=True)
class Mistake:
    wrong: str
    said: str
    right: str
    advice: bool = False


def _(wrong: str, said: str, right: str) -> Mistake:
    return Mistake(wrong, said, right)


def advice(wrong: str, said: str, right: str) -> Mistake:
    return Mistake(wrong, said, right, advice=True)


MISTAKES = [
    # Prolog and Datalog
    _("Adult(X) ⟦:-⟧ Person(X), age(X) > 17.", "rule Person(X) & age(X) > 17 -> Adult(X)",
      "rule Person(X) & age(X) > 17 -> Adult(X)"),
    _("rule Adult(X) ⟦<-⟧ Person(X)", "rule Person(X) -> Adult(X)", "rule Person(X) -> Adult(X)"),
    _("rule Person(X)⟦,⟧ age(X) > 17 -> Adult(X)", "&", "rule Person(X) & age(X) > 17 -> Adult(X)"),
    advice("fact Person(cleo)⟦.⟧", "remove it", "fact Person(cleo)"),
    _("⟦?-⟧ Parent(X, bob).", "query Parent(X, bob)", "query Parent(X, bob)"),
    _("⟦Parent(X, bob)?⟧", "query Parent(X, bob)", "query Parent(X, bob)"),
    _("rule Parent(X, ⟦_⟧) -> IsParent(X)", "(exists Any: Parent(X, Any))",
      "rule (exists Any: Parent(X, Any)) -> IsParent(X)"),
    _("rule ⟦\\+⟧ Cough(X) -> Well(X)", "~", "rule ~ Cough(X) -> Well(X)"),
    _("rule Person(X)⟦;⟧ Cough(X) -> Seen(X)", "|", "rule Person(X) | Cough(X) -> Seen(X)"),
    _("⟦%⟧ a comment", "#", "# a comment"),
    _("rule Parent(X, Y) & X ⟦\\=⟧ Y -> Real(X)", "!=", "rule Parent(X, Y) & X != Y -> Real(X)"),
    _("rule age(X) ⟦=<⟧ 17 -> Minor(X)", "<=", "rule age(X) <= 17 -> Minor(X)"),
    _("predicate Knows⟦/2⟧", "predicate Knows(entity, entity)", "predicate Knows(entity, entity)"),
    _("⟦0.8⟧::rule Person(X) -> Well(X)", "rule Person(X) -> Well(X) in [0.8, 1]",
      "rule Person(X) -> Well(X) in [0.8, 1]"),
    _("⟦0.8⟧::fact Well(ann)", "fact Well(ann) = 0.8", "fact Well(ann) = 0.8"),
    _("rule Well(X) ⟦:=⟧ Person(X)", "rule Person(X) -> Well(X)", "rule Person(X) -> Well(X)"),
    # SQL
    advice("⟦select⟧ X from Parent where Y = bob", "query P(X, Y) & X = bob", "query Parent(X, Y) & Y = bob"),
    _("query Parent(X, Y) ⟦where⟧ Y = bob", "&", "query Parent(X, Y) & Y = bob"),
    _("rule age(X) ⟦BETWEEN⟧ 10 AND 20 -> Teen(X)", "10 <= age(X) <= 20", "rule 10 <= age(X) <= 20 -> Teen(X)"),
    _("rule Parent(X, Y) & X ⟦<>⟧ Y -> Real(X)", "!=", "rule Parent(X, Y) & X != Y -> Real(X)"),
    advice("rule age(X) ⟦IS NULL⟧ -> Odd(X)", "load Missing from", 'load Missing from "data/towns.csv"'),
    advice("rule age(X) ⟦is not null⟧ & Person(X) -> Known(X)", "leave it out", "rule Person(X) -> Known(X)"),
    advice("rule age(X) = ⟦None⟧ -> Odd(X)", "leave it out", "rule Person(X) -> Odd(X)"),
    _("rule Person(X) ⟦AND⟧ Cough(X) -> Ill(X)", "and", "rule Person(X) and Cough(X) -> Ill(X)"),
    _("rule Person(X) & ⟦NOT⟧ Cough(X) -> Well(X)", "not", "rule Person(X) & not Cough(X) -> Well(X)"),
    _("rule Parent(X, Y) & Y ⟦in (ann, bob)⟧ -> Named(X)", "(Y = ann | Y = bob)",
      "rule Parent(X, Y) & (Y = ann | Y = bob) -> Named(X)"),
    _("rule ⟦count⟧(X) > 3 -> Many(X)", "(count Y: ", "rule (count Y: Parent(X, Y)) > 3 -> Many(X)"),
    _("rule ⟦sum⟧(income(X)) > 3 -> Rich(X)", "(sum Y: ",
      "rule (sum Y: income(Y) where Parent(X, Y)) > 3 -> Rich(X)"),
    # Python, pandas, C
    _("rule Person(X) ⟦&&⟧ Cough(X) -> Ill(X)", "&", "rule Person(X) & Cough(X) -> Ill(X)"),
    _("rule Person(X) ⟦||⟧ Cough(X) -> Ill(X)", "|", "rule Person(X) | Cough(X) -> Ill(X)"),
    _("rule ⟦!⟧Cough(X) -> Well(X)", "~", "rule ~Cough(X) -> Well(X)"),
    _("rule age(X) ⟦==⟧ 34 -> Exact(X)", "=", "rule age(X) = 34 -> Exact(X)"),
    _("rule age(X) ⟦is⟧ 34 -> Exact(X)", "=", "rule age(X) = 34 -> Exact(X)"),
    _("rule age(X) ⟦is not⟧ 34 -> Other(X)", "!=", "rule age(X) != 34 -> Other(X)"),
    _("rule Parent(X, Y) & Y ⟦is⟧ bob -> Named(X)", "=", "rule Parent(X, Y) & Y = bob -> Named(X)"),
    _("fact age(cleo) ⟦:=⟧ 3", "=", "fact age(cleo) = 3"),
    _("fact age(cleo) ⟦is⟧ 3", "=", "fact age(cleo) = 3"),
    _("fact Well(ann) = ⟦True⟧", "1", "fact Well(ann) = 1"),
    _("rule age(X) ⟦**⟧ 2 > 100 -> Old(X)", "^", "rule age(X) ^ 2 > 100 -> Old(X)"),
    _("rule income(X) ⟦//⟧ 12 > 3 -> Paid(X)", "/", "rule income(X) / 12 > 3 -> Paid(X)"),
    advice("rule ⟦ln⟧(age(X)) > 3 -> Old(X)", "write `log(a)`", "rule log(age(X)) > 3 -> Old(X)"),
    _("fact City(ann, ⟦'Oslo'⟧)", '"Oslo"', 'fact City(ann, "Oslo")'),
    advice("rule ⟦IF⟧(Person(X), Well(X), Ill(X))", "P -> Q", "rule (Person(X) -> Well(X)) & (~Person(X) -> Ill(X))"),
    advice("rule ⟦if⟧ Person(X) then Well(X)", "P -> Q", "rule Person(X) -> Well(X)"),
    advice("rule Person(X⟦+⟧1) -> Well(X)", "join outside of", "rule Person(X) & age(X) + 1 > 3 -> Well(X)"),
    # brackets, arrows, quantifiers
    advice("rule ⟦(⟧Person(X) & Cough(X) -> Ill(X)", ")", "rule (Person(X) & Cough(X)) -> Ill(X)"),
    advice("rule Person(X) & Cough(X)⟦)⟧ -> Ill(X)", "remove it", "rule Person(X) & Cough(X) -> Ill(X)"),
    advice("rule Person⟦[⟧X] -> Well(X)", "Person(...)", "rule Person(X) -> Well(X)"),
    _("rule Person(X) ⟦-->⟧ Well(X)", "->", "rule Person(X) -> Well(X)"),
    _("axiom forall x ⟦y⟧: Parent(x, y) -> Person(x)", "x, y", "axiom forall x, y: Parent(x, y) -> Person(x)"),
    _("axiom forall x⟦.⟧ Person(x)", ":", "axiom forall x: Person(x)"),
    _("axiom forall x ⟦in⟧ Person: Well(x)", "Person(x)", "axiom forall x: Person(x) -> Well(x)"),
    _("axiom ⟦for⟧ all X: Person(X)", "forall X:", "axiom forall X: Person(X)"),
    _("rule exists Y: ⟦Parent(X, Y) -> IsParent(X)⟧", "(exists Y: Parent(X, Y)) ->",
      "rule (exists Y: Parent(X, Y)) -> IsParent(X)"),
    _("rule Parent(X, ⟦Y⟧) -> IsParent(X)", "(exists Y: Parent(X, Y))",
      "rule (exists Y: Parent(X, Y)) -> IsParent(X)"),
    advice("axiom exists X, ⟦Y⟧: Person(X)", "take `Y` out", "axiom exists X: Person(X)"),
    # names, arities, case
    _("rule ⟦Persn⟧(X) -> Well(X)", "Person", "rule Person(X) -> Well(X)"),
    _("rule ⟦person⟧(X) -> Well(X)", "Person", "rule Person(X) -> Well(X)"),
    _("rule ⟦aeg⟧(X) > 3 -> Well(X)", "age", "rule age(X) > 3 -> Well(X)"),
    _("rule ⟦Person⟧(X, Y) & Parent(X, Y) -> Well(X)", "Person(X)", "rule Person(X) & Parent(X, Y) -> Well(X)"),
    _("⟦fct⟧ Person(cleo)", "fact", "fact Person(cleo)"),
    _("⟦Rule⟧ Person(X) -> Well(X)", "rule", "rule Person(X) -> Well(X)"),
    _("⟦Person⟧(X) -> Well(X)", "rule Person(X) -> Well(X)", "rule Person(X) -> Well(X)"),
    _("rule Parent(⟦x⟧, bob) -> Named(bob)", "X", "rule Parent(X, bob) & Person(X) -> Named(bob)"),
    _("rule Parent(X, ⟦Bob⟧) & Person(Bob) -> Named(X)", "bob", "rule Parent(X, bob) & Person(bob) -> Named(X)"),
    _("query Parent(X, ⟦bobb⟧)", "bob", "query Parent(X, bob)"),
    _("fact Person(⟦Cleo⟧)", '"Cleo"', 'fact Person("Cleo")'),
    _("fact City(ann, New ⟦York⟧)", '"New York"', 'fact City(ann, "New York")'),
    _("logic ⟦fuzzy⟧", "lukasiewicz", "logic lukasiewicz"),
    advice("rule ⟦my rule⟧: Person(X) -> Well(X)", "my rule", "rule my-rule: Person(X) -> Well(X)"),
    # weights, bounds, truths
    _("rule Person(X) -> Well(X) ⟦0.8⟧", "in [0.8, 1]", "rule Person(X) -> Well(X) in [0.8, 1]"),
    _("rule ⟦0.8⟧: Person(X) -> Well(X)", "rule Person(X) -> Well(X) in [0.8, 1]",
      "rule Person(X) -> Well(X) in [0.8, 1]"),
    _("fact Well(ann) = ⟦80%⟧", "0.8", "fact Well(ann) = 0.8"),
    _("fact Well(ann) = ⟦80⟧", "0.8", "fact Well(ann) = 0.8"),
    _("fact Well(ann) ⟦0.8⟧", "= 0.8", "fact Well(ann) = 0.8"),
    _("fact Well(ann) ⟦in [0.9, 0.2]⟧", "in [0.2, 0.9]", "fact Well(ann) in [0.2, 0.9]"),
    _("fact Well(ann) ⟦in (0.2, 0.9)⟧", "in [0.2, 0.9]", "fact Well(ann) in [0.2, 0.9]"),
    advice("rule Person(X) & ⟦Cough⟧(X) > 0.5 -> Ill(X)", "in [l, u]", "rule Person(X) & Cough(X) -> Ill(X)"),
    _("rule age(X) ⟦in [18, 65]⟧ & Person(X) -> Works(X)", "18 <= age(X) <= 65",
      "rule 18 <= age(X) <= 65 & Person(X) -> Works(X)"),
    _("rule Person(X)@⟦-1⟧ & Cough(X) -> Ill(X)", "~", "rule ~Person(X)@1 & Cough(X) -> Ill(X)"),
    advice("query Person(X) ⟦in [0.5, 1]⟧", "remove", "query Person(X)"),
    # numbers
    _("rule income(X) > ⟦1,000⟧ -> Rich(X)", "1000", "rule income(X) > 1000 -> Rich(X)"),
    _("rule income(X) > ⟦1,5⟧ -> Rich(X)", "1.5", "rule income(X) > 1.5 -> Rich(X)"),
    _("rule income(X) > ⟦34 kg⟧ -> Rich(X)", "34", "rule income(X) > 34 -> Rich(X)"),
    _("rule start(X) > ⟦2020-01-01⟧ -> New(X)", 'date "2020-01-01"', 'rule start(X) > date "2020-01-01" -> New(X)'),
    _("fact start(cleo) = ⟦2024-01-01⟧", 'date "2024-01-01"', 'fact start(cleo) = date "2024-01-01"'),
    _("fact ⟦age(cleo)⟧", "fact age(cleo) = 0", "fact age(cleo) = 0"),
    advice("fact age(cleo) = ⟦old⟧", "in digits", "fact age(cleo) = 80"),
    advice("rule ⟦2age⟧(X) > 3 -> Old(X)", "2 * age(...)", "rule 2 * age(X) > 3 -> Old(X)"),
    _("rule Person(X) & ⟦age⟧(X) -> Old(X)", "age(X) > 0", "rule Person(X) & age(X) > 0 -> Old(X)"),
    advice("rule age(X) / ⟦0⟧ > 3 -> Old(X)", "divide by something else", "rule age(X) / 2 > 3 -> Old(X)"),
    _("fact age(cleo) ⟦> 5⟧", "in [5, inf]", "fact age(cleo) in [5, inf]"),
    # negation
    _("rule Person(X) & ~⟦Ill⟧(X) -> Well(X)\nfact Ill(ann)", "predicate Ill(entity) closed",
      "predicate Ill(entity) closed\nrule Person(X) & ~Ill(X) -> Well(X)\nfact Ill(ann)"),
    # English, and parts in another order
    _("rule age(X) ⟦greater than⟧ 18 -> Adult(X)", ">", "rule age(X) > 18 -> Adult(X)"),
    _("rule age(X) ⟦is at least⟧ 18 -> Adult(X)", ">=", "rule age(X) >= 18 -> Adult(X)"),
    _("rule Parent(X, Y) & Y ⟦not in [ann, bob]⟧ -> Odd(X)", "Y != ann & Y != bob",
      "rule Parent(X, Y) & Y != ann & Y != bob -> Odd(X)"),
    _("rule Person(X) -> Well(X) ⟦with 0.8⟧", "in [0.8, 1]", "rule Person(X) -> Well(X) in [0.8, 1]"),
    _("rule Person(X) -> Well(X) ⟦weight 0.8⟧", "in [0.8, 1]", "rule Person(X) -> Well(X) in [0.8, 1]"),
    _("rule Person(X) -> Well(X)⟦ = 0.8⟧", "in [0.8, 1]", "rule Person(X) -> Well(X) in [0.8, 1]"),
    _("rule Person(X) ⟦unless⟧ Cough(X) -> Well(X)", "& ~", "rule Person(X) & ~Cough(X) -> Well(X)"),
    _("rule ⟦X.age⟧ > 18 -> Adult(X)", "age(X)", "rule age(X) > 18 -> Adult(X)"),
    _("rule Person(⟦$x⟧) -> Well($x)", "X", "rule Person(X) -> Well(X)"),
    _("rule Person(⟦?x⟧) -> Well(?x)", "X", "rule Person(X) -> Well(X)"),
    advice("query Person(X)⟦?⟧", "remove the `?`", "query Person(X)"),
    _("fact Well(ann) ⟦in 0.2..0.8⟧", "in [0.2, 0.8]", "fact Well(ann) in [0.2, 0.8]"),
    _('fact age(cleo) = ⟦"34"⟧', "34", "fact age(cleo) = 34"),
    _("⟦assert⟧ Person(cleo)", "fact Person(cleo)", "fact Person(cleo)"),
    _("⟦:-⟧ Person(X), Ill(X).", "axiom Person(X) & Ill(X) -> false", "axiom Person(X) & Ill(X) -> false"),
    advice("axiom forall X Person(X) -> Well(⟦X⟧)", "`X: ...`", "axiom forall X: Person(X) -> Well(X)"),
    _('load Adult from "people.csv" (name) ⟦with header⟧', "header", 'load Adult from "people.csv" (name) header'),
    advice('load Adult from "people.csv" ⟦[⟧name]', "(name, age)", 'load Adult from "people.csv" (name)'),
    # loads
    _("load Adult from ⟦people.csv⟧ (name)", '"people.csv"', 'load Adult from "people.csv" (name)'),
    _('⟦load Adult from "poeple.csv" (name)⟧', '"people.csv"', 'load Adult from "people.csv" (name)'),
    _('⟦load Adult from "people.csv" (nmae)⟧', '"name"', 'load Adult from "people.csv" ("name")'),
    _('load Adult from "people.csv" (name) where town = ⟦Rome⟧', '"Rome"',
      'load Adult from "people.csv" (name) where town = "Rome"'),
    advice('load Adult from "people.csv" (name) where years ⟦between⟧ 18 and 65', "age >= 18 and age <= 65",
           'load Adult from "people.csv" (name) where years >= 18 and years <= 65'),
    _('load Adult from "people.csv" (name) where town ⟦not in⟧ ("Rome", "Bern")', "!=",
      'load Adult from "people.csv" (name) where town != "Rome" and town != "Bern"'),
    _('load Adult from "dates.csv" (name) where start >= ⟦2019-01-01⟧', '"2019-01-01"',
      'load Adult from "dates.csv" (name) where start >= "2019-01-01"'),
    _('load Adult from "dates.csv" (name) where start in (⟦2020-01-01⟧)', '"2020-01-01"',
      'load Adult from "dates.csv" (name) where start in ("2020-01-01")'),
    _('load Adult from "people.csv" (name) where town ⟦==⟧ "Rome"', "=",
      'load Adult from "people.csv" (name) where town = "Rome"'),
    _('⟦load Town from "data\\\\towns.csv"⟧', "data/towns.csv", 'load Town from "data/towns.csv"'),
    _("import ⟦more.lnn⟧", '"more.lnn"', 'import "more.lnn"'),
    advice('⟦import "people.csv"⟧', "load", 'load Adult from "people.csv" (name)'),
    # clauses, statements and numbers of other tools
    _("query ⟦who⟧ Parent(ann, X)?", "query Parent(ann, X)", "query Parent(ann, X)"),
    _("query ⟦X⟧: Parent(ann, X)", "query Parent(ann, X)", "query Parent(ann, X)"),
    _("query age(X) = ⟦?⟧", "query age(X)", "query age(X)"),
    _("query ⟦count⟧ Person(X)", "(count Y: ", "query (count Y: Parent(X, Y)) > 1"),
    advice("query Person(X) ⟦order by⟧ age(X)", "--sort lower", "query Person(X)"),
    advice("query Person(X) ⟦limit⟧ 10", "--limit 10", "query Person(X)"),
    _("⟦num⟧ size(person)", "number size(person)", "number size(person)"),
    _('load Adult from "people.csv" (name) ⟦if⟧ years > 18', "where",
      'load Adult from "people.csv" (name) where years > 18'),
    _("rule Person(X) -> Well(X)⟦ >= 0.8⟧", "in [0.8, 1]", "rule Person(X) -> Well(X) in [0.8, 1]"),
    _("rule ⟦Well(X) = Person(X)⟧", "Well(X) <-> Person(X)", "rule Well(X) <-> Person(X)"),
    _("rule ⟦0.5 * Person(X) + 0.5 * Cough(X)⟧ -> Ill(X)", "(Person(X)@0.5 & Cough(X)@0.5)",
      "rule (Person(X)@0.5 & Cough(X)@0.5) -> Ill(X)"),
    _("rule age(⟦X⟧) > 17 -> Grown", "(exists X: age(X) > 17)", "rule (exists X: age(X) > 17) -> Grown"),
    _('rule age(X) > 18 -> ⟦status(X) = "adult"⟧', 'status(X, "adult")', 'rule age(X) > 18 -> status(X, "adult")'),
    _("rule age(X) >= 18 and ⟦<= 65⟧ -> Works(X)", "age(X) <= 65", "rule age(X) >= 18 and age(X) <= 65 -> Works(X)"),
    _("query ⟦Cough⟧(X) >= 0.5", "Cough(X)", "query Cough(X)"),
    advice("fact ⟦ann⟧ is Happy", "Likes(ann, bob)", "fact Happy(ann)"),
    advice("fact ⟦cleo⟧ is a Person", "Likes(ann, bob)", "fact Person(cleo)"),
    advice('load age from "people.csv" (name, years) header ⟦=⟧ true', "remove",
           'load age from "people.csv" (name, years) header'),
    advice('load age from "plain.csv" header⟦=⟧False', "remove", 'load age from "plain.csv" no header'),
    advice("rule Person(X)⟦{⟧0.5} & Cough(X) -> Ill(X)", "(A & B){bias: 1}", "rule Person(X)@0.5 & Cough(X) -> Ill(X)"),
    # truths, weights and units
    _("rule Person(X) -> Well(X) @ ⟦0.8⟧", "in [0.8, 1]", "rule Person(X) -> Well(X) in [0.8, 1]"),
    _("rule Person(X) ⟦~>⟧ Well(X)", "->", "rule Person(X) -> Well(X)"),
    _("rule age(X) ⟦in 18..65⟧ -> Works(X)", "18 <= age(X) <= 65", "rule 18 <= age(X) <= 65 -> Works(X)"),
    _("rule income(X) > ⟦5k⟧ -> Rich(X)", "5000", "rule income(X) > 5000 -> Rich(X)"),
    _("fact income(cleo) = ⟦1.5M⟧", "1500000", "fact income(cleo) = 1500000"),
    _("rule income(X) > ⟦50 000⟧ -> Rich(X)", "50000", "rule income(X) > 50000 -> Rich(X)"),
    _("predicate Likes(⟦X⟧, Y)", "predicate Likes(entity, entity)", "predicate Likes(entity, entity)"),
    advice('rule City(X, C) & C⟦.startswith⟧("New") -> Local(X)', "list the entities",
           'load Local from "people.csv" (name)'),
    advice('rule City(X, ⟦!=⟧"Oslo") -> Local(X)', "join outside of", 'rule City(X, V) & V != "Oslo" -> Local(X)'),
    _("fact Well(ann) = ⟦yes⟧", "1", "fact Well(ann) = 1"),
    _("fact Well(ann) = ⟦no⟧", "0", "fact Well(ann) = 0"),
    # Prolog, Python, Excel and IBM LNN
    _("rule Person(X) ⟦|-⟧ Well(X)", "->", "rule Person(X) -> Well(X)"),
    _("rule ⟦r1 =⟧ Person(X) -> Well(X)", "r1:", "rule r1: Person(X) -> Well(X)"),
    _("rule ⟦r1 :=⟧ Person(X) -> Well(X)", "r1:", "rule r1: Person(X) -> Well(X)"),
    _("rule Person(X) -> Well(X)\n⟦--⟧ everybody is", "#", "rule Person(X) -> Well(X)\n# everybody is"),
    _("rule Person(X) -> Well(X) ⟦--⟧ everybody is", "#", "rule Person(X) -> Well(X) # everybody is"),
    _("rule Person(X) -> Well(X) ⟦;⟧ everybody is", "#", "rule Person(X) -> Well(X) # everybody is"),
    advice("⟦:-⟧ use_module(library(lists)).", "remove the line", ""),
    _("fact Well(ann) ⟦= (0.2, 0.6)⟧", "in [0.2, 0.6]", "fact Well(ann) in [0.2, 0.6]"),
    _("fact Well(ann)⟦, 0.7⟧", "= 0.7", "fact Well(ann) = 0.7"),
    _("fact Well(ann) ⟦in [0.7]⟧", "= 0.7", "fact Well(ann) = 0.7"),
    _("query ⟦minimum⟧ X: age(X)", "min", "query min X: age(X)"),
    advice("⟦insert⟧ into Person values (1)", "state a row as", "fact Person(carl)"),
    advice("rule Person(X) & ⟦forall⟧(Parent(X, Y), Person(Y)) -> Proud(X)", "(exists Y: P(X, Y))",
           "rule Person(X) & (forall Y: Parent(X, Y) -> Person(Y)) -> Proud(X)"),
    advice("rule ⟦exists⟧(Y, Parent(X, Y)) -> Big(X)", "(exists Y: P(X, Y))",
           "rule (exists Y: Parent(X, Y)) -> Big(X)"),
    advice("⟦:-⟧ dynamic Ill/1.", "remove the line", "predicate Ill(entity)"),
    advice("rule ⟦AND⟧(Person(X), age(X) > 3) -> Ill(X)", "and", "rule (Person(X) & age(X) > 3) -> Ill(X)"),
    advice("rule ⟦OR⟧(Person(X), Cough(X)) -> Ill(X)", "or", "rule (Person(X) | Cough(X)) -> Ill(X)"),
    advice("fact Person(cleo)⟦,⟧ Person(dan)", "its own line", "fact Person(cleo)\nfact Person(dan)"),
    advice("fact Well(ann)⟦;⟧ fact Well(bob)", "remove it", "fact Well(ann)\nfact Well(bob)"),
    _("fact Well(ann) = ⟦false⟧", "0", "fact Well(ann) = 0"),
]  # fmt: skip

IN_FILES = [
    _('predicate Adult(person)\nload Adult from "people.csv"', "(name)",
      'predicate Adult(person)\nload Adult from "people.csv" (name)'),
    advice('load age from "plain.csv"', '"no header"', 'load age from "plain.csv" no header'),
    advice('load age from "people.csv" (1, 2)', '"header"', 'load age from "people.csv" (1, 2) header'),
    advice('load age from "people.csv" (name, town)', "leave the cell empty",
           'load age from "people.csv" (name, years)'),
    advice('load age from "dates.csv"', "declare it with `date` instead of `number`", 'load start from "dates.csv"'),
]  # fmt: skip
"""Mistakes that are reported at a row of a file."""

GENERAL = [
    "predicate Ill(person) ⟦open⟧",
    "predicate Ill(x⟦:⟧ person)",
    "predicate Likes(person ⟦person⟧)",
    "number size(person) ⟦int⟧",
    "sort town ⟦=⟧ {rome, oslo}",
    "logic ⟦=⟧ product",
    'load Adult⟦(⟧name) from "people.csv"',
    'load Adult ⟦"people.csv"⟧ (name)',
    'load age from "people.csv" (name, years) ⟦as⟧ float',
    "rule Person(X) -> Well(X) in [0.8 ⟦1⟧]",
    "rule Person(X) -> Well(X) in ⟦(⟧0.8, 1]",
    "rule Person(X)⟦:⟧ Well(X)",
    "rule r1 ⟦Person⟧(X) -> Well(X)",
    "rule either ⟦Person⟧(X) or Cough(X) -> Seen(X)",
    "rule age(X) > 10⟦:⟧30 -> Late(X)",
    "rule income(X) > ⟦€⟧1000 -> Rich(X)",
    "rule age(X) > ⟦0x1F⟧ -> Old(X)",
    'rule City(X, ⟦{⟧"Oslo", "Rome"}) -> Local(X)',
    "rule Person(X) & ⟦!⟧ -> Big(X)",
    "axiom transitive ⟦Parent⟧",
    "fact Person(⟦[⟧cleo, dan])",
    "fact Person⟦:⟧ cleo",
    "fact Well(ann) ⟦between⟧ 0.2 and 0.6",
    "fact not⟦(⟧ann)",
    "label Well(ann) ⟦true⟧",
    "query Person(X) ⟦AS⟧ p",
    'import "more.lnn" ⟦as⟧ more',
]
"""Mistakes without a message of their own."""
