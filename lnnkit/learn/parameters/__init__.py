"""A program -> its learned numbers: their names, limits and text. Start at `rule_parameters`."""
