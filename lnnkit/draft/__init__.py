"""A first program for tables: files -> what their columns hold -> declarations, ``load`` statements and queries.

In: paths of CSV, TSV and Parquet files. Out: the text of a program that reads them.
"""
