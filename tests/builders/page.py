"""A page taken apart: the text that a reader without scripts sees, the style, the script, and the data for it."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any


@dataclass
class Parts:
    """``tags`` are all elements in order, ``attributes`` all (element, name, value); ``policy`` is the content's."""

    tags: list[str]
    attributes: list[tuple[str, str, str]]
    style: str
    script: str
    policy: dict[str, str]
    text: str
    data: Any


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.inside: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {"text": [], "style": [], "script": [], "data": []}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.inside = [(tag, dict(attrs))]

    def handle_endtag(self, tag: str) -> None:
        self.inside = []

    def handle_data(self, data: str) -> None:
        tag, attrs = self.inside[-1] if self.inside else ("", {})
        kind = tag if tag in ("style", "script") else "text"
        self.texts["data" if attrs.get("id") == "data" else kind].append(data)


def parts(page: str) -> Parts:
    """A page as the browser takes it apart."""
    reader = _Reader()
    reader.feed(page)
    policy = next(v for t, n, v in reader.attributes if t == "meta" and n == "content" and v.startswith("default-src"))
    data = zlib.decompress(base64.b64decode("".join(reader.texts["data"])))
    return Parts(
        reader.tags,
        reader.attributes,
        "".join(reader.texts["style"]),
        "".join(reader.texts["script"]),
        dict(rule.strip().split(" ", 1) for rule in policy.split(";")),
        "".join(reader.texts["text"]),
        json.loads(data),
    )


def readable(page: str) -> str:
    """The page for a golden file: its data as it is, its style and scripts, which are files, left out."""
    told = json.dumps(parts(page).data, indent=1, ensure_ascii=True)
    page = re.sub(r'(id="data">)[^<]*', lambda m: f"{m[1]}\n{told}\n", page)
    page = re.sub(r"(<style>|<script>).*?(?=</)", r"\1...", page, flags=re.DOTALL)
    return re.sub(r"'sha256-[^']*'", "'sha256-...'", page)
