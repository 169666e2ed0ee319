"""The HTML templates, filled in: one page that needs nothing else, no scripts, no fonts, no requests.

Owns how Jinja2 is set up: it escapes every value, and a name that a template has and a page does not give is an error.
"""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_TEMPLATES = Path(__file__).parent / "templates"


def render_template(template: str, **values: object) -> str:
    """The page that a template and its values make."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(values)
