"""Drafts a first program for tables. Input: paths of CSV, TSV, Parquet and JSON lines files. Output: the text of a
program with declarations, ``load`` statements and queries."""
