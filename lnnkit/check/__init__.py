"""A syntax tree -> a checked program and findings. One family of findings per file; all are collected, not raised."""

from lnnkit.check.checker import check as check
from lnnkit.check.checker import check_query as check_query
