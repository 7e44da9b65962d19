"""An interactive session: reads a line, changes the program or answers, and prints the reply.

``shell_state`` says what an input asks for, and what a session holds; ``performing`` is a function from a state and an
input to the next state and a reply. Neither prints or knows about a terminal. ``line_runner`` and ``terminal_prompt``
have the loops that read lines.
"""
