"""Batches of rows in, their answers out: a callable that any engine of tables can run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lnnkit import __version__
from lnnkit.answer_table import STATES, TruthState, truth_states
from lnnkit.data.arrow import float64s, int32s, strings
from lnnkit.data.frames import arrow_sheet
from lnnkit.data.grid import Sheet
from lnnkit.data.table_fault import Unreadable
from lnnkit.errors import DataError, Error
from lnnkit.rows.dense_answers import RowBounds
from lnnkit.rows.row_loads import key_of
from lnnkit.rows.row_model import RowModel
from lnnkit.rows.strip_facts import StripGrid, StripSource, fact_tables, read_strip
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 1
"""Of what a pickled scorer holds."""
