"""A program -> a knowledge base: load, tell, infer, ask, explain, learn, save."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from lnnkit.errors import ProgramError
from lnnkit.garbage import collection_paused
from lnnkit.kb.knowledge_base import KnowledgeBase as KnowledgeBase
from lnnkit.syntax.parse import parse


def load(path: str | Path, *, streamed: str | None = None, today: str | date | None = None) -> KnowledgeBase:
    """The knowledge base of a ``.lnn`` file, or of a model file (``.safetensors``), with its exact values. Raises
    `ProgramError` with every finding if the program has errors. Tables about the sort that is ``streamed`` are not
    read: their rows come later (`KnowledgeBase.scorer`). ``today`` states which date `today` is, a declared date of the
    program: the clock is never read."""
    from lnnkit.data.files import is_model, read_program, read_values

    path = Path(path)
    text, findings = read_program(path)
    if text is None:
        raise ProgramError(findings)
    kb = loads(text, path.parent, str(path), streamed=streamed, today=today)
    values = read_values(path) if is_model(path) else {}
    if values:
        module = kb.module()
        module.load({name: value for name, value in values.items() if name in module.names})
    return kb


@collection_paused()
def loads(
    text: str,
    base: str | Path = ".",
    path: str = "<string>",
    *,
    streamed: str | None = None,
    today: str | date | None = None,
) -> KnowledgeBase:
    """The knowledge base of a program text. Its paths are relative to ``base``; findings are shown under ``path``.
    Tables about the sort that is ``streamed`` are not read; ``today`` as in `load`."""
    program, findings = parse(text, path)
    return KnowledgeBase(program, Path(base), findings, streamed=streamed, today=today)
