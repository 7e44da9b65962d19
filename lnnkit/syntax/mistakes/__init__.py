"""The mistakes that people bring along from other languages, each with its own message.

`MISTAKES` is a table of recognisers, tried in order on the place where the grammar stopped. Each answers only where
it is sure: a false explanation is worse than a plain one.
"""

from __future__ import annotations

from collections.abc import Callable

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.expected import plain
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.mistakes import (
    arguments,
    bounds,
    brackets,
    calculations,
    connectives,
    declarations,
    foreign,
    membership,
    numbers,
    quantifiers,
)

Recogniser = Callable[[Fault], Diagnostic | None]

# Order matters where one text has two readings: the surer or more telling one comes first.
MISTAKES: tuple[Recogniser, ...] = (
    brackets.unclosed_string,
    brackets.single_quotes,
    foreign.bang,
    foreign.backward_arrow,
    foreign.foreign_symbol,
    foreign.not_equal,
    foreign.broken_arrow,
    bounds.leading_truth,
    numbers.missing_operator,
    numbers.number_text,
    numbers.decimal_comma,
    calculations.remainder,
    calculations.floor_division,
    foreign.foreign_comment,
    foreign.period,
    foreign.semicolon,
    arguments.underscore,
    numbers.learnable,
    numbers.no_operands,
    numbers.misplaced_learnable,
    foreign.shouted,
    foreign.head_shouted,
    quantifiers.quantifier_word,
    quantifiers.quantifier_sort,
    quantifiers.quantifier_list,
    quantifiers.glued_quantifier,
    calculations.foreign_function,
    calculations.between_words,
    arguments.several_words,
    arguments.argument_expression,
    brackets.brackets,
    declarations.reserved,
    declarations.arity,
    membership.membership,
    bounds.open_interval,
    brackets.unclosed_group,
    bounds.interval_in_body,
    brackets.unmatched_bracket,
    bounds.rule_bounds,
    bounds.fact_value,
    bounds.fact_formula,
    calculations.value_of_fact,
    connectives.comma_conjunction,
    connectives.chained,
    connectives.repeated_weight,
    declarations.rule_name,
    declarations.unquoted_path,
)


def diagnose(fault: Fault) -> Diagnostic:
    """The named mistake at a fault, or a plain syntax error."""
    for recognise in MISTAKES:
        diagnostic = recognise(fault)
        if diagnostic is not None:
            return diagnostic
    return plain(fault)
