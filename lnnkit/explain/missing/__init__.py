"""Why an atom is no truer: the instances that could change it, and what they lack. Start with `missing_premises`."""
