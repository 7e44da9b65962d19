"""Scoring a stream of rows into a file: units of the stream become parts, which are joined in order. A unit is what one
worker decides at a time; its part is written atomically, so that a run that was stopped can continue from the parts.
"""
