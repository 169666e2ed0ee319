"""The words that a name in camel case is made of.  Owns the split, and no vocabulary."""

from __future__ import annotations

import re

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def words_of(name: str) -> list[str]:
    """In lower case, in order: ``HTTPServer_tid2`` is http, server and tid."""
    return [word.lower() for word in _WORDS.findall(name)]
