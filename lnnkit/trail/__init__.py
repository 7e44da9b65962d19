"""The trail (provenance): which instance set each bound, and when.

Written by the merge; read by explanations, training and contested answers.
"""
