"""Boxes and arrows as an SVG document (layer 9)."""

from __future__ import annotations

from html import escape

from .layout import HIGH, MARGIN


def draw(texts, colors, places, edges):
    """The document: boxes at `places` (x, y, width, height) with lines of text, arrows for `edges`."""
    wide = max((x + w for x, _, w, _ in places), default=0) + MARGIN
    high = max((y + h for _, y, _, h in places), default=0) + MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high:.0f}" width="{wide:.0f}" height="{high:.0f}" '
           'font-family="monospace" font-size="11">',
           '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
           '<path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>',
           f'<rect width="{wide:.0f}" height="{high:.0f}" fill="#fff"/>']
    out += [_arrow(places[a], places[b]) for a, b in edges]
    out += [_box(lines, color, at) for lines, color, at in zip(texts, colors, places)]
    return "\n".join([*out, "</svg>"])


def _arrow(a, b):
    x1, y1, x2, y2 = a[0] + a[2] / 2, a[1] + a[3], b[0] + b[2] / 2, b[1]
    half = (y2 - y1) / 2
    curve = f"M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 + half:.1f} {x2:.1f} {y2 - half:.1f} {x2:.1f} {y2:.1f}"
    return f'<path d="{curve}" fill="none" stroke="#555" marker-end="url(#tip)"/>'


def _box(lines, color, at):
    x, y, w, h = at
    rows = "".join(_text(x + w / 2, y + HIGH * (i + 1) + 1, "normal" if i else "bold", line) for i, line in enumerate(lines))
    return f'<g><rect x="{x:.1f}" y="{y:.1f}" width="{w}" height="{h}" rx="5" fill="{color}" stroke="#777"/>{rows}</g>'


def _text(x, y, weight, line):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-weight="{weight}">{escape(line)}</text>'


__all__ = ["draw"]
