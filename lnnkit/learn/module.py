"""The parameters of a program as a torch module."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from lnnkit.learn.parameters import Parameter


class ProgramModule(nn.Module):
    """One scalar in double precision for each number that a program learns: ``values`` holds them by name, and so does
    ``state_dict()``. Inference reads them as they are when it starts."""

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        super().__init__()
        self.parameters_of_program = tuple(parameters)
        self.values = nn.ParameterDict(
            {
                each.name: nn.Parameter(
                    torch.tensor(math.nan if each.start is None else each.start, dtype=torch.float64)
                )
                for each in parameters
            }
        )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.parameters_of_program)

    def vector(self) -> Tensor:
        """All values, in the order of ``names``; gradients pass."""
        if not self.parameters_of_program:
            return torch.zeros(0, dtype=torch.float64)
        return torch.stack([self.values[name] for name in self.names])

    def load(self, values: Mapping[str, float]) -> None:
        """Take values by name."""
        with torch.no_grad():
            for name, value in values.items():
                self.values[name].fill_(value)

    def current(self) -> Mapping[str, float]:
        """The values by name, as numbers; without those that have none yet."""
        found = {name: float(self.values[name].detach()) for name in self.names}
        return {name: value for name, value in found.items() if not math.isnan(value)}

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={value:g}" for name, value in self.current().items())
