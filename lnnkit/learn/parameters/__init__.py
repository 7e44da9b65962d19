"""The learned numbers of a program: their names, limits and text. Start at `rule_parameters`."""
