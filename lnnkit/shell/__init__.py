"""A session at a prompt: a line in, what it changes and what it answers out; and the loops that read lines.

``requests`` reads a line, ``performing`` does what it asks: a function from a state and a request to the next state and
a reply. Neither prints, nor knows a terminal. ``plain_lines`` and ``terminal_prompt`` are the loops.
"""
