"""Checks the syntax tree. One family of findings per file; all findings are collected, none is raised."""

from lnnkit.check.checker import check as check
from lnnkit.check.checker import check_query as check_query
