"""Where bounds come from: events, facts, defaults, and the instances that set them. Start with `bound_sources`."""
