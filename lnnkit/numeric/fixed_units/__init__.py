"""Units with fixed weights that are neither sums nor products of their operands: one step of a term, with an image over
intervals, which `lnnkit.numeric.step` inverts by shaving where no formula does it."""
