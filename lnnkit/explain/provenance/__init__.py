"""A bound -> where it comes from: an event, fact or default, the instance that set it. Start with `bound_sources`."""
