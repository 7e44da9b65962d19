"""The program that the tests of scoring run."""

LOANS = """sort loan
predicate Risky(loan)
number income(loan)
load Risky from "loans.parquet" (id, risk)
load income from "loans.parquet" (id, income)
rule Risky(X) & income(X) < 1000 -> ~Grant(X)
rule income(X) >= 500 -> Grant(X)
query Grant(X)
"""
