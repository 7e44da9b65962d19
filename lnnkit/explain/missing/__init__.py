"""An atom -> why it is no truer: instances that could change it, and what they lack. Start with `missing_premises`."""
