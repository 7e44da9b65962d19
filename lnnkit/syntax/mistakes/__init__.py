"""Mistakes that people make when they come from other languages, each with its own message.

`MISTAKES` is a table of recognisers, tried in order at the place where the parser stopped. Each one answers only if it
is certain: a wrong explanation is worse than a plain syntax error.
"""

from __future__ import annotations

from collections.abc import Callable

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.expected import plain
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.mistakes import (
    argument_expressions,
    brackets,
    calculations,
    connectives,
    date_literals,
    foreign,
    membership,
    misread,
    names_and_arities,
    number_literals,
    other_tools,
    phrases,
    quantifiers,
    stated_values,
    statement_clauses,
    table_clauses,
    truth_bounds,
    word_order,
    worded_rules,
    wordings,
)

Recogniser = Callable[[Fault], Diagnostic | None]

# Order matters where two recognisers match: the more certain or more specific one comes first.
MISTAKES: tuple[Recogniser, ...] = (
    brackets.unclosed_string,
    brackets.single_quotes,
    misread.dash_comment,
    misread.named_rule,
    date_literals.date_literal,
    date_literals.time_of_day,
    date_literals.called_date,
    phrases.phrase,
    other_tools.other_tool,
    worded_rules.worded_rule,
    stated_values.stated_value,
    phrases.spaced_thousands,
    table_clauses.capitals,
    table_clauses.alternative,
    table_clauses.null,
    table_clauses.denied,
    table_clauses.several_conditions,
    table_clauses.date,
    table_clauses.unquoted_value,
    foreign.bang,
    foreign.directive,
    foreign.backward_arrow,
    foreign.foreign_symbol,
    foreign.not_equal,
    foreign.broken_arrow,
    truth_bounds.leading_truth,
    number_literals.missing_operator,
    number_literals.number_text,
    number_literals.decimal_comma,
    calculations.assignment,
    word_order.head_first,
    word_order.spoken_fact,
    word_order.question_word,
    word_order.order_of_answers,
    word_order.asked_argument,
    word_order.counted,
    word_order.truth_first,
    word_order.about,
    statement_clauses.load_order,
    statement_clauses.load_words,
    statement_clauses.load_condition,
    statement_clauses.sort_members,
    statement_clauses.logic_sign,
    statement_clauses.declaration,
    wordings.bounds_text,
    wordings.marked_variable,
    wordings.attribute,
    wordings.question_mark,
    wordings.not_in,
    wordings.worded_comparison,
    wordings.truth_word,
    wordings.unless,
    calculations.remainder,
    calculations.floor_division,
    foreign.foreign_comment,
    foreign.period,
    foreign.semicolon,
    argument_expressions.underscore,
    number_literals.learnable,
    number_literals.called_learnable,
    number_literals.no_operands,
    number_literals.misplaced_learnable,
    calculations.equals_word,
    calculations.where_clause,
    foreign.if_call,
    foreign.shouted,
    foreign.head_shouted,
    word_order.negating_word,
    word_order.bare_variable,
    quantifiers.quantifier_word,
    quantifiers.quantifier_sort,
    quantifiers.quantifier_list,
    quantifiers.glued_quantifier,
    calculations.foreign_function,
    calculations.between_words,
    argument_expressions.several_words,
    argument_expressions.argument_expression,
    brackets.brackets,
    names_and_arities.reserved,
    names_and_arities.arity,
    membership.membership,
    truth_bounds.open_interval,
    truth_bounds.missing_comma,
    truth_bounds.learned_truth,
    truth_bounds.compared_interval,
    brackets.unclosed_group,
    truth_bounds.interval_in_body,
    brackets.unmatched_bracket,
    truth_bounds.rule_bounds,
    truth_bounds.fact_value,
    truth_bounds.fact_formula,
    calculations.value_of_fact,
    connectives.comma_conjunction,
    connectives.chained,
    connectives.repeated_weight,
    names_and_arities.rule_name,
    names_and_arities.unquoted_path,
)


def diagnose(fault: Fault) -> Diagnostic:
    """The named mistake at a fault, or a plain syntax error if none is recognised."""
    for recognise in MISTAKES:
        diagnostic = recognise(fault)
        if diagnostic is not None:
            return diagnostic
    return plain(fault)
