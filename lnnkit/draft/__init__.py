"""Drafts a first program for tables: files -> the contents of their columns -> declarations, ``load`` statements and
queries.

Input: paths of CSV, TSV and Parquet files. Output: the text of a program that reads them.
"""
