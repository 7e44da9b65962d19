"""Model files: the text of a program and its exact learned values, in one safetensors file. The metadata hold
``lnnkit`` (the version of the format) and ``program`` (the text, with rounded values); each parameter has a float64
tensor under its name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

SUFFIX = ".safetensors"
_VERSION = "1"


class NoModel(ValueError):
    """The file is not a model file of this version; the message says what it is."""


def is_model(path: Path) -> bool:
    """Whether a path names a model file."""
    return path.suffix == SUFFIX


def model_bytes(text: str, values: Mapping[str, float]) -> bytes:
    """The content of a model file."""
    import numpy as np

    tensors = {name: np.array(value, np.float64) for name, value in values.items()}
    return tensor_bytes(tensors, {"lnnkit": _VERSION, "program": text})


def tensor_bytes(tensors: dict[str, np.ndarray], metadata: dict[str, str]) -> bytes:
    """The content of a safetensors file, equal for equal arguments: safetensors itself orders metadata at random."""
    from safetensors.numpy import save

    content = save(tensors, metadata)
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.dumps({**json.loads(content[8:start]), "__metadata__": metadata}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + content[start:]


def read_text(path: Path) -> str:
    """The text in a model file. Raises `NoModel` and ``OSError``."""
    with _opened(path) as file:
        meta = file.metadata() or {}
    if "program" not in meta:
        raise NoModel("it holds no program")
    if meta.get("lnnkit") != _VERSION:
        raise NoModel(f"its format is version {meta.get('lnnkit')}, not {_VERSION}")
    return meta["program"]


def read_values(path: Path) -> dict[str, float]:
    """The values in a model file, by their names. Raises `NoModel` and ``OSError``."""
    with _opened(path) as file:
        return {name: float(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118  # no mapping


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    from safetensors import SafetensorError, safe_open

    path.open("rb").close()  # raises the `OSError` of a file that cannot be read
    try:
        with safe_open(path, framework="numpy") as file:
            yield file
    except (SafetensorError, TypeError, ValueError) as problem:
        raise NoModel("it is not a safetensors file of single numbers") from problem
