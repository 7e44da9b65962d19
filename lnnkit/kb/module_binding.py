"""A torch module and its inputs, as the binding of a predicate or a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from lnnkit.check.program import CheckedProgram
from lnnkit.errors import Error
from lnnkit.learn.binding import Binding
from lnnkit.syntax.diagnostic import Diagnostic


def binding(
    checked: CheckedProgram,
    name: str,
    module: torch.nn.Module,
    inputs: Mapping[str, torch.Tensor],
    classes: Sequence[str],
) -> Binding:
    """The module as what supplies the predicate or number ``name``; ``classes`` are numbered where none are named.
    Raises `Error` where the predicate is none for modules, or the module is not as wide as it."""
    predicate = checked.predicates.get(name)
    arity = 0 if predicate is None else predicate.arity
    if predicate is None or arity not in (1, 2) or not inputs:
        message = f"no module can be bound to `{name}`"
        hint = "bind a declared predicate or number of one argument, or of an entity and a class, with some inputs"
        raise Error([Diagnostic("unbound", message, hint)])
    stacked = torch.stack([torch.as_tensor(each) for each in inputs.values()])
    with torch.no_grad():
        shape = module(stacked[:1]).reshape(1, -1).shape[1]
    names = tuple(classes) or tuple(map(str, range(shape)))
    wanted = 1 if arity == 1 else len(names)
    if shape != wanted:
        message = f"the module gives {shape} numbers a row for `{name}`, which takes {wanted}"
        raise Error([Diagnostic("unbound", message, "let its last layer be that wide")])
    return Binding(name, module, stacked, tuple(inputs), names if arity == 2 else (), predicate.numeric)
