"""Checks a torch module and its inputs, and binds them to a predicate or a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from lnnkit.check.program import CheckedProgram
from lnnkit.errors import Error
from lnnkit.learn.replay.neural_predicates import Binding
from lnnkit.syntax.diagnostic import Diagnostic


def binding(
    checked: CheckedProgram,
    name: str,
    module: torch.nn.Module,
    inputs: Mapping[str, torch.Tensor],
    classes: Sequence[str],
) -> Binding:
    """The binding of a module to the predicate or number ``name``; ``classes`` are numbered if not named. Raises
    `Error` if the predicate cannot be supplied by a module, ``module`` is not a module, the inputs are not tensors of
    one shape for named entities, or the output has another width than the predicate needs."""
    _require_module(name, module)
    predicate = checked.predicates.get(name)
    arity = 0 if predicate is None else predicate.arity
    _require_inputs(name, inputs, classes)
    if predicate is None or arity not in (1, 2) or not inputs:
        message = f"no module can be bound to `{name}`"
        hint = "bind a declared predicate or number of one argument, or of an entity and a class, with some inputs"
        raise Error([Diagnostic("unbound", message, hint)])
    stacked = _stacked(name, inputs)
    shape = _width(name, module, stacked)
    names = tuple(classes) or tuple(map(str, range(shape)))
    wanted = 1 if arity == 1 else len(names)
    if shape != wanted:
        message = f"the module gives {shape} numbers for each input of `{name}`, which needs {wanted}"
        raise Error([Diagnostic("unbound", message, "change the width of its last layer")])
    return Binding(name, module, stacked, tuple(inputs), names if arity == 2 else (), bool(predicate.numeric))


def _refused(name: str, message: str, hint: str) -> Error:
    return Error([Diagnostic("unbound", f"{message} cannot be bound to `{name}`", hint)])


def _require_module(name: str, module: object) -> None:
    """Raises `Error`, with what to do instead, if ``module`` is not a module."""
    if isinstance(module, torch.nn.Module):
        return
    if isinstance(module, type) and issubclass(module, torch.nn.Module):
        raise _refused(name, f"the class `{module.__name__}`", f"create an instance first: `{module.__name__}(...)`")
    if callable(module):
        hint = (
            "only the weights of a torch module are trained: put it into the `forward` of a `torch.nn.Module` that "
            "holds its weights; of fixed results tell facts: `kb.tell(name, table)`"
        )
        raise _refused(name, "a function that is not a torch module", hint)
    what = "a tensor" if isinstance(module, torch.Tensor) else f"a value of type `{type(module).__name__}`"
    hint = "give a `torch.nn.Module` that maps inputs to truths; tell truths that are known: `kb.tell(name, table)`"
    raise _refused(name, what, hint)


def _require_inputs(name: str, inputs: object, classes: object) -> None:
    """Raises `Error` if inputs do not name their entities, or classes are not texts."""
    hint = 'map each entity to its input: `{"a": tensor_of_a, "b": tensor_of_b}`'
    if not isinstance(inputs, Mapping):
        what = "inputs in a tensor" if isinstance(inputs, torch.Tensor) else f"inputs in a {type(inputs).__name__}"
        raise _refused(name, f"{what}, which name no entities,", hint)
    key = next((key for key in inputs if not isinstance(key, str)), None)
    if key is not None:
        raise _refused(name, f"the input of {key!r}, which is not a text,", f"name the entity by text: {str(key)!r}")
    if isinstance(classes, str) or not all(isinstance(text, str) for text in classes):  # pyright: ignore[reportGeneralTypeIssues]
        raise _refused(name, f"classes {classes!r}", 'give their names in a list: `classes=["cat", "dog"]`')


def _stacked(name: str, inputs: Mapping[str, object]) -> torch.Tensor:
    """All inputs in one tensor."""
    made: dict[str, torch.Tensor] = {}
    for entity, value in inputs.items():
        try:
            made[entity] = torch.as_tensor(value)
        except (TypeError, ValueError, RuntimeError) as problem:
            hint = "give a tensor, or numbers in lists of one shape"
            raise _refused(name, f"the input of `{entity}`, which is not a tensor ({problem}),", hint) from None
    first, like = next(iter(made.items()))
    for entity, tensor in made.items():
        if tensor.shape != like.shape or tensor.dtype != like.dtype:
            shapes = f"`{first}` {_shown(like)} and of `{entity}` {_shown(tensor)}"
            raise _refused(name, f"inputs of {shapes}", "give all inputs one shape and type: they are stacked")
    return torch.stack(list(made.values()))


def _shown(tensor: torch.Tensor) -> str:
    return f"of shape {list(tensor.shape)} ({str(tensor.dtype).removeprefix('torch.')})"


def _width(name: str, module: torch.nn.Module, stacked: torch.Tensor) -> int:
    """How many numbers the module gives a row, by trying the first inputs. Raises `Error` if it fails on them."""
    tried = stacked[:2]  # a single input has no variance, which batch norm needs
    try:
        with torch.no_grad():
            output = module(tried)
    except Exception as problem:  # a user's module may raise anything
        hint = "let it take a batch of inputs, stacked along the first dimension; try `module(input[None])`"
        reason = " ".join(str(problem).split())
        message = f"a module that fails for a stack {_shown(tried)} ({type(problem).__name__}: {reason})"
        raise _refused(name, message, hint) from problem
    hint = "let it return one tensor with a row for each input"
    if not isinstance(output, torch.Tensor):
        raise _refused(name, f"a module that gives a {type(output).__name__}", hint)
    if not output.dim() or len(output) != len(tried):
        raise _refused(name, f"a module that gives a tensor {_shown(output)} for {len(tried)} inputs", hint)
    return output.reshape(len(tried), -1).shape[1]
