"""The tables: a data frame of columns as published, gaps as missing cells, and the classes of the rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

DATA = Path(os.environ.get("LNNKIT_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")) / "tabular"

_ADULT = (
    "age workclass fnlwgt education education_num marital_status occupation relationship race sex capital_gain "
    "capital_loss hours_per_week native_country income"
)
_GERMAN = (
    "checking duration history purpose amount savings employment rate status debtors residence property age plans "
    "housing credits job liable telephone foreign class"
)
_BREAST = "thickness size_uniformity shape_uniformity adhesion epithelial nuclei chromatin nucleoli mitoses class"
_PIMA = "pregnancies glucose pressure skin insulin bmi pedigree age class"
_TICTACTOE = "tl tm tr ml mm mr bl bm br class"


@dataclass(frozen=True)
class Table:
    """Where a table stands and how it is read. ``target`` names its last word on each row, ``true`` the class that is
    told from the others. ``names`` are given where the file has no header; ``texts`` are columns whose numbers are
    codes; ``gaps`` what stands for a missing cell. ``test`` is the file of a published split, used instead of folds;
    ``complete``: it has every row that there can be. ``tree`` is the known accuracy of a tree of depth 5, None for
    tables that are to be told apart completely."""

    path: str
    target: str
    true: str
    names: str = ""
    texts: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ("?",)
    test: str = ""
    complete: bool = False
    tree: float | None = None


TABLES = {
    "heloc": Table("heloc/heloc_23.csv", "RiskPerformance", "Bad", gaps=("-7", "-8", "-9"), tree=0.707),
    "pima": Table("pima/pima-indians-diabetes.csv", "class", "1", _PIMA, tree=0.740),
    "breast_w": Table("breast_w/breast-cancer-wisconsin.csv", "class", "4", _BREAST, tree=0.949),
    "german": Table("german/german.csv", "class", "2", _GERMAN, tree=0.720),
    "crx": Table("crx/credit.csv", "Class", "+", tree=0.848),
    "compas": Table("compas/compas.csv", "recidivate-within-two-years", "1", dropped=("",), tree=0.675),
    "adult": Table("adult/adult-train.csv", "income", ">50K", _ADULT, tree=0.850),
    "tictactoe": Table("tictactoe/tic-tac-toe.data", "class", "positive", _TICTACTOE, tree=0.900),
    "mushroom": Table("mushroom/mushroom.csv", "Poisonous/Edible", "p"),
    "monks-1": Table(
        "monks/monks-1.train.csv",
        "class",
        "1",
        texts=("a1", "a2", "a3", "a4", "a5", "a6"),
        dropped=("id",),
        test="monks/monks-1.test.csv",
        complete=True,
    ),
}


@dataclass(frozen=True)
class Rows:
    """``positive`` (n,) says which rows are of the class that counts as true. ``split`` is a published split: the rows
    to train on and those to test on; ``complete``: the latter are all rows that there can be."""

    frame: pd.DataFrame
    positive: np.ndarray
    split: tuple[np.ndarray, np.ndarray] | None
    complete: bool = False


def read(table: Table, folder: Path = DATA) -> Rows:
    """Raises FileNotFoundError."""
    whole = _frame(table, folder / table.path)
    split = None
    if table.test:
        train = np.arange(len(whole))
        whole = pd.concat([whole, _frame(table, folder / table.test)], ignore_index=True)
        split = train, np.arange(len(train), len(whole))
    positive = (whole[table.target].astype(str) == table.true).to_numpy()
    return Rows(whole.drop(columns=[table.target, *_unnamed(whole, table.dropped)]), positive, split, table.complete)


def _frame(table: Table, path: Path) -> pd.DataFrame:
    names = table.names.split() or None
    return pd.read_csv(
        path,
        names=names,
        header=None if names else 0,
        skipinitialspace=True,
        na_values=list(table.gaps),
        keep_default_na=False,
        dtype=dict.fromkeys((*table.texts, table.target), str),
    )


def _unnamed(frame: pd.DataFrame, dropped: Sequence[str]) -> list[str]:
    return [name for name in frame.columns if name in dropped or ("" in dropped and name.startswith("Unnamed:"))]


def with_gaps(frame: pd.DataFrame, share: float, rng: np.random.Generator) -> pd.DataFrame:
    """The frame without that share of its cells, each drawn by itself."""
    return frame.mask(rng.random(frame.shape) < share) if share else frame
