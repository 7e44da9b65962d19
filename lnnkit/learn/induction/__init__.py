"""Tables of labelled rows -> rules: start at `rule_induction`, which `lnnkit.sklearn` calls."""
