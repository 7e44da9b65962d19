"""Scoring a stream of rows into a file: units of the stream in, parts out, the parts put together in their order.

A unit is what one worker decides at a time; its part is written whole or not at all, so that a run that was ended goes
on where it was.
"""
