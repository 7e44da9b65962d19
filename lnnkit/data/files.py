"""Files that are written completely or not at all, the text of program files, and model files.

A model file has the text of a program and its exact learned values, in one safetensors file. The metadata hold
``lnnkit`` (the version of the format) and ``program`` (the text, with rounded values); each parameter has a float64
tensor under its name."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnnkit.data.source import UTF16_MARKS, Unreadable, is_table, names_beside, nearest_name, read_bytes
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_string

if TYPE_CHECKING:
    import numpy as np

SUFFIX = ".safetensors"
_VERSION = "1"
_RETURN = re.compile(r"\r(?!\n)")


def is_special(path: str | os.PathLike[str]) -> bool:
    """Whether ``path`` is neither a file nor a folder, but a pipe or a device, as ``/dev/stdout`` is."""
    place = Path(path)  # not resolved: what stands for a pipe in /proc names nothing
    return place.exists() and not place.is_file() and not place.is_dir()


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write ``content`` (text as UTF-8, line ends unchanged) to ``path`` in one step: a reader, or a crash, sees either
    the old file or the new one. A replaced file keeps its mode; for a link its target is replaced. Anything but a
    regular file (a pipe, ``/dev/stdout``) is written in place. Raises ``OSError`` as ``open`` does."""
    data = content.encode() if isinstance(content, str) else content
    target = Path(path if is_special(path) else os.path.realpath(path))
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    mode = target.stat().st_mode & 0o7777 if target.exists() else None
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(13, "the file is write-protected", str(target))
    partial = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if mode is not None:
            partial.chmod(mode)
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def read_program(path: Path) -> tuple[str | None, list[Diagnostic]]:
    """The text of a ``.lnn`` file (UTF-8, with or without a byte order mark), or the text in a model file; or what is
    wrong with it."""

    def failed(code: str, message: str, hint: str = "", row: int | None = None) -> tuple[None, list[Diagnostic]]:
        return None, [Diagnostic(code, message, hint, file=str(path), row=row)]

    if is_model(path) and path.is_file():
        try:
            return read_text(path), []
        except (NoModel, OSError) as problem:
            message = f'"{path}" cannot be read: {getattr(problem, "strerror", None) or problem}'
            return failed("no-model", message, "name a file that `lnnkit train` or `save` wrote")
    if is_table(path) and path.is_file():
        hint = f"read it in a .lnn file beside it: `load P from {format_string(path.name)}`"
        return failed("table-as-program", f'"{path}" is a table, not a program', hint)
    try:
        data = read_bytes(path, nearest_program)
    except Unreadable as problem:
        return failed(problem.fault.code, problem.fault.message, problem.fault.hint)
    if data[:2] in UTF16_MARKS:
        return failed("unreadable-file", f'"{path}" is UTF-16, not UTF-8', "save it as UTF-8")
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return in_lines(data.decode()), []
    except UnicodeDecodeError as error:
        before = data[: error.start]
        row = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode()) + 1
        message = f"byte 0x{data[error.start]:02x} in column {column} is not UTF-8"
        return failed("not-utf8", message, "save the file as UTF-8", row)


def in_lines(text: str) -> str:
    """The text with every lone carriage return replaced by a line feed."""
    return _RETURN.sub("\n", text)


def nearest_program(path: Path) -> str:
    """A hint for a missing program whose path was given by the caller, not written in another program."""
    folder = path.parent
    where = "" if path.is_absolute() else f'; the path is relative to the working folder, "{Path.cwd()}"'
    if not folder.is_dir():
        return f'there is no folder "{folder}"{where}'
    if near := nearest_name(path):
        return f'did you mean "{folder / near}"?'
    programs = [name for name in names_beside(path) if name.endswith(".lnn")]
    shown = ", ".join([*programs[:5], *(["..."] if len(programs) > 5 else [])]) or "no .lnn file"
    return f'the folder "{folder}" holds {shown}{where}'


# --- model files -----------------------------------------------------------------------------------------------------


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
