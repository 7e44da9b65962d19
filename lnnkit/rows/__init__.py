"""Programs about rows: compiles a checked program and a sort to a function from batches of rows to their answers.

If each statement that the queries need is about one entity of the sort, rows are decided one by one, in batches of any
size, by runs of one plan.
"""
