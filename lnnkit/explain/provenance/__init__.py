"""Where bounds come from: events, facts and defaults by atom, and the instances that set them. Start with
`bound_sources`."""
