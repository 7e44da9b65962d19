"""The site in docs/: each code block of each page is run, and the reference pages treat all that there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import ROOT, run_page

DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


@pytest.mark.parametrize("page", PAGES)
def test_blocks_of(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_page(DOCS / page, tmp_path, monkeypatch)
