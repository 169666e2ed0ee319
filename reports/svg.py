"""Elements of pictures as SVG text: attributes and content escaped, names made visible.

Owns the markup alone; what is drawn where is the pictures' own.
"""

from __future__ import annotations

from markupsafe import Markup, escape

from reports.escape import visible

FONT_WIDTH = 6.6  # of a character of the pictures' text of 12 units


def element(tag: str, content: str | Markup = "", **attributes: float | str) -> Markup:
    """``element("text", "old", x=1.5, class_="name")``; a hyphen in a name is written ``_``."""
    said = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_text(value))}"' for name, value in attributes.items()
    )
    inside = content if isinstance(content, Markup) else escape(visible(content))
    return Markup(f"<{tag}{said}>{inside}</{tag}>")


def _text(value: float | str) -> str:
    return visible(value) if isinstance(value, str) else f"{value:.1f}"


def drawing(width: float, height: float, label: str, *parts: Markup, links: bool = False) -> Markup:
    """The whole picture; ``label`` is what it shows, for whoever cannot see it.  ``links``: parts of it are links."""
    view = f"0 0 {width:g} {height:g}"
    return element("svg", Markup("").join(parts), viewBox=view, role="group" if links else "img", aria_label=label)
