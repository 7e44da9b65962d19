"""SVG as PNG, by resvg, with the font that matplotlib brings: both are in the extra ``lnnkit[report]``."""

from __future__ import annotations

import re
from pathlib import Path

from lnnkit.markup.optional_libraries import require

_ZOOM = 2.0  # pixels per point, as on displays of phones and laptops
_MOST = 4e7  # pixels, which take 160 MB; larger pictures get fewer per point


def require_png() -> None:
    """Raises `Error` where the extra is not installed."""
    require("PNG", "resvg_py", "matplotlib")


def png(svg: str) -> bytes:
    """The picture ``svg`` in light colours. Raises `Error` where the extra is not installed."""
    require_png()
    import matplotlib
    import resvg_py

    frame = re.search(r'viewBox="0 0 (\d+) (\d+)"', svg)
    assert frame is not None
    zoom = min(_ZOOM, (_MOST / (int(frame[1]) * int(frame[2]))) ** 0.5)
    fonts = str(Path(matplotlib.get_data_path()) / "fonts" / "ttf")  # else no text is drawn on a system without fonts
    return resvg_py.svg_to_bytes(svg_string=svg, zoom=zoom, font_dirs=[fonts], monospace_family="DejaVu Sans Mono")
