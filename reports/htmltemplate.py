"""One HTML page that needs nothing else: a template, filled in, with its style, its scripts and its data inside.

Owns how Jinja2 is set up (it escapes every value, and a name that a template has and a page does not give is an error),
how data is put into a page, and the policy that lets the browser run these scripts alone, by their hashes, and ask
nobody for anything.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from reports.escape import visible

_HERE = Path(__file__).parent


def render_page(template: str, styles: Sequence[str], scripts: Sequence[str], data: object, **values: object) -> str:
    """The page that a template and its values make.

    ``styles`` and ``scripts`` are files of ``assets``; ``data`` is for the scripts, which get it as JSON.
    """
    loader = FileSystemLoader([_HERE / "templates", _HERE / "assets"])
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )

    def joined(names: Sequence[str]) -> str:
        return "".join(loader.get_source(environment, name)[0] for name in names)

    style = joined(styles)
    script = f'"use strict";\n(() => {{\n{joined(scripts)}}})();\n'
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )
    return environment.get_template(template).render(
        values, style=Markup(style), script=Markup(script), policy=policy, data=packed(data)
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def packed(data: object) -> str:
    """``data`` as JSON, compressed by zlib, in base 64: nothing in it can end the element that it stands in."""
    return base64.b64encode(zlib.compress(msgspec.json.encode(shown(data)))).decode()


def shown(value: Any) -> Any:
    """Builtin values with all text made ``visible``: scripts make text nodes of it, which show what they are given."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(key): shown(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        if value and isinstance(value[0], int):
            return value  # a column of numbers
        return [shown(item) for item in value]
    return value
