"""Arithmetic over time: sequences of numbers, words and images, and differential equations."""
