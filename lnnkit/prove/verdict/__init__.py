"""The answer to a question, as data, text and page."""
