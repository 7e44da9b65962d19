"""The scores of a training -> a page with tables and charts."""
