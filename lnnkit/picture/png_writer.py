"""SVG as PNG, by resvg, with the font that matplotlib brings: both are in the extra ``lnnkit[report]``."""

from __future__ import annotations

from pathlib import Path

from lnnkit.markup.missing_extra import missing_extra

_ZOOM = 2.0  # pixels to a point: displays of phones and laptops have as many


def png(svg: str) -> bytes:
    """The picture in light colours. Raises `Error` where the extra is not installed."""
    try:
        import matplotlib
        import resvg_py
    except ImportError as problem:
        raise missing_extra("PNG", problem.name or "resvg_py") from None
    fonts = str(Path(matplotlib.get_data_path()) / "fonts" / "ttf")  # a system without fonts would draw no text
    return resvg_py.svg_to_bytes(svg_string=svg, zoom=_ZOOM, font_dirs=[fonts], monospace_family="DejaVu Sans Mono")
