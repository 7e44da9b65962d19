"""Units with fixed weights -> terms: `frozen` makes sums, products and powers of them, or one step for a unit that is
none of these, evaluated over intervals in a module of its own and inverted by `shaving` where no formula does it."""
