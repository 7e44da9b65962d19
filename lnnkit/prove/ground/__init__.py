"""Grounding of a question: the instances on which it can depend, evaluated at known bounds."""
