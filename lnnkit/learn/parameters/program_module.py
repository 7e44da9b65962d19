"""The parameters of a program as a torch module."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from lnnkit.learn.parameters.rule_parameters import Parameter


class ProgramModule(nn.Module):
    """One scalar in double precision for each learned number of a program, by name in ``values`` and in
    ``state_dict()``.

    torch allows no periods in names, so they are written ``%2E``; a name that is already an attribute of modules, such
    as ``to``, is written ``?to``. Inference reads the values when it starts.
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        super().__init__()
        self.parameters_of_program = tuple(parameters)
        self.values = nn.ParameterDict()
        self._keys = {each.name: _key(each.name) for each in parameters}
        for each in parameters:
            start = torch.tensor(math.nan if each.start is None else each.start, dtype=torch.float64)
            self.values[self._keys[each.name]] = nn.Parameter(start)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.parameters_of_program)

    def vector(self) -> Tensor:
        """All values, in the order of ``names``; differentiable."""
        if not self.parameters_of_program:
            return torch.zeros(0, dtype=torch.float64)
        return torch.stack([self.values[self._keys[name]] for name in self.names])

    def load(self, values: Mapping[str, float]) -> None:
        """Set values by name."""
        with torch.no_grad():
            for name, value in values.items():
                self.values[self._keys[name]].fill_(value)

    def current(self) -> Mapping[str, float]:
        """The values by name, as numbers, without those that are not set yet."""
        found = {name: float(self.values[self._keys[name]].detach()) for name in self.names}
        return {name: value for name, value in found.items() if not math.isnan(value)}

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={value:g}" for name, value in self.current().items())


def _key(name: str) -> str:
    key = name.replace("%", "%25").replace(".", "%2E")
    return f"?{key}" if hasattr(nn.ParameterDict(), key) else key
