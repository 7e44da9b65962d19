"""The tree of an earlier commit, and environments in which one tree's lnnkit is imported."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = ("lnnkit", "grammar")  # what a tree runs by; its own benchmarks would hide these


def cache() -> Path:
    """The user's folder for what can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lnnkit-guard"


def tree(commit: str) -> Path:
    """What a commit runs by, taken from the repository once. Raises `ValueError` for a commit that it does not have."""
    found = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"], cwd=ROOT, capture_output=True, text=True
    )
    if found.returncode:
        raise ValueError(f"no commit {commit} in {ROOT}")
    whole = found.stdout.strip()
    kept = cache() / whole
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as held:
            archive, files = Path(held) / "files.tar", Path(held) / "files"
            subprocess.run(["git", "archive", "-o", str(archive), whole, *KEPT], cwd=ROOT, check=True)
            with tarfile.open(archive) as opened:
                opened.extractall(files, filter="data")
            try:
                files.rename(kept)
            except OSError:  # another guard was faster
                if not kept.is_dir():
                    raise
    return kept


def environment(tree: Path, folder: Path) -> Path:
    """The interpreter of a new environment that imports lnnkit from a tree, the guard from this one, and all else from
    where this interpreter finds it: nothing is installed."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    packages = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (site,) = (folder / "lib").glob("python*/site-packages")
    (site / "tree.pth").write_text("".join(f"{path}\n" for path in (tree, *packages, ROOT)), encoding="utf-8")
    return folder / "bin" / "python"
