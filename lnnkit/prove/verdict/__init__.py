"""What a question comes back with, as data, text and page."""
