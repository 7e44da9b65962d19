"""Boxes and arrows as a picture: laid out, and written as SVG, PNG, DOT or a page. Start with `picture`."""
