"""What learns without arithmetic, many seeds at once: an LSTM, a recurrent network of rectifiers, linear layers."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Dense(nn.Module):
    """``y = W x + b``, drawn as torch's ``Linear`` is: ``[seeds, rows, in] -> [seeds, rows, out]``."""

    weight: nn.Parameter
    bias: nn.Parameter

    def __init__(self, below: int, above: int, seeds: int, generator: torch.Generator) -> None:
        super().__init__()
        self.weight = _uniform((seeds, below, above), below, generator)
        self.bias = _uniform((seeds, 1, above), below, generator)

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight + self.bias


class LSTM(nn.Module):
    """Long short-term memory (Hochreiter and Schmidhuber 1997), the last hidden state:
    ``[seeds, rows, steps, in] -> [seeds, rows, hidden]``."""

    weight: nn.Parameter
    bias: nn.Parameter

    def __init__(self, features: int, hidden: int, seeds: int, generator: torch.Generator) -> None:
        super().__init__()
        self.hidden = hidden
        self.weight = _uniform((seeds, features + hidden, 4 * hidden), hidden, generator)
        self.bias = _uniform((seeds, 1, 4 * hidden), hidden, generator)

    def forward(self, x: Tensor) -> Tensor:
        shown = cell = x.new_zeros(*x.shape[:2], self.hidden)
        for number in range(x.shape[2]):
            gates = torch.cat([x[:, :, number], shown], -1) @ self.weight + self.bias
            entered, forgotten, opened = torch.sigmoid(gates[..., : 3 * self.hidden]).chunk(3, -1)
            cell = forgotten * cell + entered * torch.tanh(gates[..., 3 * self.hidden :])
            shown = opened * torch.tanh(cell)
        return shown


class RectifierRNN(nn.Module):
    """``h_t = relu(W x_t + U h_(t-1) + b)``, the last: ``[seeds, rows, steps, in] -> [seeds, rows, hidden]``. U begins
    as the identity (Le, Jaitly and Hinton 2015), without which it forgets or explodes."""

    weight: nn.Parameter
    memory: nn.Parameter
    bias: nn.Parameter

    def __init__(self, features: int, hidden: int, seeds: int, generator: torch.Generator) -> None:
        super().__init__()
        self.hidden = hidden
        self.weight = _uniform((seeds, features, hidden), hidden, generator)
        self.memory = nn.Parameter(torch.eye(hidden).repeat(seeds, 1, 1))
        self.bias = _uniform((seeds, 1, hidden), hidden, generator)

    def forward(self, x: Tensor) -> Tensor:
        state = x.new_zeros(*x.shape[:2], self.hidden)
        for number in range(x.shape[2]):
            state = torch.relu(x[:, :, number] @ self.weight + state @ self.memory + self.bias)
        return state


def _uniform(shape: tuple[int, ...], width: int, generator: torch.Generator) -> nn.Parameter:
    return nn.Parameter((2 * torch.rand(shape, generator=generator) - 1) * width**-0.5)
