"""AST -> checked AST: one family of diagnostics a file; all collected, none raised midway."""

from lnnkit.check.checker import check as check
from lnnkit.check.query import check_query as check_query
