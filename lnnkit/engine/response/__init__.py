"""Bindings of one rule -> the bounds that its instances propose: evaluated, looked up, or worked out by a clause."""
