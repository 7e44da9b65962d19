"""A soak: random programs for as long as wanted, what is wrong with one, and the least program that shows it.

``python -m tests.soak --minutes 10 --seed 1`` runs it. Read ``cases`` (where programs come from), ``checks`` (what must
hold of each), ``shrinking`` (how a program gets smaller), ``__main__`` (the command).
"""
