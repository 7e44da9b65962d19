"""The report of a training as a page."""
