"""Rules from tables of labelled rows: start at `rule_induction`, which `lnnkit.sklearn` calls."""
