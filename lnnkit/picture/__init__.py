"""Boxes and arrows as a picture: laid out, and written as SVG, PNG, DOT or a page. Begin with `picture`; `boxes` is its
input."""
