"""Fifty mistakes more, in the manner of `tests.mistakes.eighty`: turns of phrase, marks and words at the end of a
statement, clauses of other tools, and what the third trial as a new user brought."""

from __future__ import annotations

from tests.mistakes.eighty import _, advice

THIRD_FORTY = [
    # truths and weights
    _("rule Person(X) -> Well(X) ⟦[confidence=0.8]⟧", "in [0.8, 1]", "rule Person(X) -> Well(X) in [0.8, 1]"),
    _("rule Person(X) -> Well(X) ⟦(80%)⟧", "in [0.8, 1]", "rule Person(X) -> Well(X) in [0.8, 1]"),
    _("rule Person(X) -> Well(X) ⟦:: 0.8⟧", "in [0.8, 1]", "rule Person(X) -> Well(X) in [0.8, 1]"),
    _("rule Person(X) -> ⟦0.8⟧ Well(X)", "-> Well(X) in [0.8, 1]", "rule Person(X) -> Well(X) in [0.8, 1]"),
    _("rule Person(X) -> Well(X) @ ⟦0.8⟧", "in [0.8, 1]", "rule Person(X) -> Well(X) in [0.8, 1]"),
    _("rule ⟦0.5⟧ Person(X) & 0.5 Cough(X) -> Ill(X)", "Person(X)@0.5 & Cough(X)@0.5",
      "rule Person(X)@0.5 & Cough(X)@0.5 -> Ill(X)"),
    _("rule Person(X)⟦:0.5⟧ & Cough(X):0.5 -> Ill(X)", "Person(X)@0.5 & Cough(X)@0.5",
      "rule Person(X)@0.5 & Cough(X)@0.5 -> Ill(X)"),
    # ends and names of rules
    advice("rule Person(X) -> Well(X)⟦!⟧", "remove it", "rule Person(X) -> Well(X)"),
    advice("rule Person(X) -> Well(X) ⟦end⟧", "remove it", "rule Person(X) -> Well(X)"),
    _("rule ⟦r1⟧ Person(X) -> Well(X)", "r1:", "rule r1: Person(X) -> Well(X)"),
    _("rule ⟦[r1]⟧ Person(X) -> Well(X)", "r1:", "rule r1: Person(X) -> Well(X)"),
    _("rule ⟦r1.⟧ Person(X) -> Well(X)", "r1:", "rule r1: Person(X) -> Well(X)"),
    # bodies
    _("rule Person(X) ⟦~>⟧ Well(X)", "->", "rule Person(X) -> Well(X)"),
    _("rule Person(X) ∧ ¬Cough(X) ⟦⊢⟧ Well(X)", "->", "rule Person(X) ∧ ¬Cough(X) -> Well(X)"),
    _("rule age(X) > age(Y) ⟦for all Y⟧ -> Oldest(X)", "(forall Y: age(X) > age(Y))",
      "rule (forall Y: age(X) > age(Y)) -> Oldest(X)"),
    _("rule age(X) ⟦in 18..65⟧ -> Works(X)", "18 <= age(X) <= 65", "rule 18 <= age(X) <= 65 -> Works(X)"),
    _("rule Person(X)⟦.age⟧ > 18 -> Adult(X)", "Person(X) & age(X)", "rule Person(X) & age(X) > 18 -> Adult(X)"),
    advice('rule City(X, C) & C⟦.startswith(⟧"New") -> Local(X)', "list the entities",
           'load Local from "people.csv" (name)'),
    _('rule City(X, ⟦{"Oslo", "Rome"}⟧) -> Local(X)', 'City(X, V) & (V = "Oslo" | V = "Rome")',
      'rule City(X, V) & (V = "Oslo" | V = "Rome") -> Local(X)'),
    _('rule City(X, ⟦!="Oslo"⟧) -> Local(X)', 'City(X, V) & V != "Oslo"', 'rule City(X, V) & V != "Oslo" -> Local(X)'),
    _("rule Parent(X, ⟦not bob⟧) -> Other(X)", "Parent(X, V) & V != bob", "rule Parent(X, V) & V != bob -> Other(X)"),
    # numbers
    _("rule income(X) > ⟦5k⟧ -> Rich(X)", "5000", "rule income(X) > 5000 -> Rich(X)"),
    _("fact income(cleo) = ⟦1.5M⟧", "1500000", "fact income(cleo) = 1500000"),
    _("rule income(X) > ⟦50 000⟧ -> Rich(X)", "50000", "rule income(X) > 50000 -> Rich(X)"),
    _("rule age(X) > ⟦10:30⟧ -> Late(X)", "10.5", "rule age(X) > 10.5 -> Late(X)"),
    # facts
    _("fact Person(⟦cleo; dan⟧)", "fact Person(cleo)", "fact Person(cleo)\nfact Person(dan)"),
    _("fact Person(⟦[cleo, dan]⟧)", "fact Person(dan)", "fact Person(cleo)\nfact Person(dan)"),
    _("fact Well(ann) ⟦70%⟧", "= 0.7", "fact Well(ann) = 0.7"),
    _("fact Well(ann) ⟦@⟧ 0.7", "= 0.7", "fact Well(ann) = 0.7"),
    _("fact Well(ann) ⟦= yes⟧", "= 1", "fact Well(ann) = 1"),
    _("fact Well(ann) ⟦= no⟧", "= 0", "fact Well(ann) = 0"),
    advice("fact Well(ann) ⟦is true⟧", "leave it out", "fact Well(ann)"),
    _("fact Well(ann) ⟦is false⟧", "~Well(ann)", "fact ~Well(ann)"),
    _("fact Well(ann) ⟦between 0.2 and 0.6⟧", "in [0.2, 0.6]", "fact Well(ann) in [0.2, 0.6]"),
    _("fact ⟦cleo.age⟧ = 34", "fact age(cleo) = 34", "fact age(cleo) = 34"),
    advice('fact Person("cleo"⟦,⟧ )', "remove it", 'fact Person("cleo")'),
    _("fact Anna ⟦likes⟧ bob", 'fact likes("Anna", bob)', 'fact likes("Anna", bob)'),
    # queries
    _("query ⟦all⟧ Person(X)", "query Person(X)", "query Person(X)"),
    _("query ⟦distinct⟧ Parent(X, Y)", "query Parent(X, Y)", "query Parent(X, Y)"),
    advice("query Person(X) ⟦| top 3⟧", "--limit 10", "query Person(X)"),
    _("query ⟦is⟧ Person(ann) true", "query Person(ann)", "query Person(ann)"),
    _("query ⟦why⟧ Person(ann)", "query Person(ann)", "query Person(ann)"),
    _("⟦print⟧ Person(X)", "query Person(X)", "query Person(X)"),
    # declarations
    _("predicate ill ⟦person⟧", "predicate ill(person)", "predicate ill(person)"),
    _("number size(person) ⟦in [0, 120]⟧", "axiom 0 <= size(X) <= 120",
      "number size(person)\nfact size(ann) = 3\naxiom 0 <= size(X) <= 120"),
    advice("number size(person) ⟦default 0⟧", "remove it", "number size(person)"),
    _("predicate Likes(⟦X⟧, Y)", "predicate Likes(entity, entity)", "predicate Likes(entity, entity)"),
    # properties of relations
    _("axiom ⟦transitive⟧ Parent", "axiom Parent(X, Y) & Parent(Y, Z) -> Parent(X, Z)",
      "axiom Parent(X, Y) & Parent(Y, Z) -> Parent(X, Z)"),
    _("axiom Parent ⟦is symmetric⟧", "axiom Parent(X, Y) -> Parent(Y, X)", "axiom Parent(X, Y) -> Parent(Y, X)"),
    _("axiom ⟦functional⟧ City", "axiom City(X, Y) & City(X, Z) -> Y = Z", "axiom City(X, Y) & City(X, Z) -> Y = Z"),
    # loads
    _('load age from "people.csv" (⟦name -> years⟧)', "name, years", 'load age from "people.csv" (name, years)'),
    advice('load age from "people.csv" (name, years) ⟦as float⟧', "remove it",
           'load age from "people.csv" (name, years)'),
    _('load age from "people.csv" (name, years) ⟦encoding=latin-1⟧', 'encoding "latin-1"',
      'load age from "people.csv" (name, years) encoding "latin-1"'),
    _('load age from "people.csv" (name, years) ⟦decimal=","⟧', 'decimal ","',
      'load age from "people.csv" (name, years) decimal ","'),
    advice('load Adult from "people.csv" (name) ⟦limit 10⟧', "remove it", 'load Adult from "people.csv" (name)'),
    advice("label Well(ann) ⟦true⟧", "leave it out", "rule Person(X) -> Well(X)\nlabel Well(ann)"),
]  # fmt: skip
