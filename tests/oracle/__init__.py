"""A slow, obvious, independent LNN to test the engine against: plain floats, full grounding, nothing of lnnkit.

``run(program)`` gives the bounds that docs/reference/semantics.md promises. Read in this order:
``program`` (the input), ``neurons`` (boxes up and down), ``sorts`` and ``network`` (what is one neuron, what is shared,
what defines what), ``laws`` (comparisons of the same terms), ``completion`` (closed derived predicates), ``inference``
(rounds and answers).
"""

from .inference import Answer, Contradiction, Result, robust, run
from .program import Box, Fact, Formula, Predicate, Program, ProgramError, Statement

__all__ = [
    "Answer",
    "Box",
    "Contradiction",
    "Fact",
    "Formula",
    "Predicate",
    "Program",
    "ProgramError",
    "Result",
    "Statement",
    "robust",
    "run",
]
