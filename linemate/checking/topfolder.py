"""Paths as they are below the top of a working tree, however they are spelled.

Owns the spellings of the top: git's, and those that a compile database uses, through links.
"""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass, field


@dataclass(slots=True)
class TopFolder:
    """``top`` is git's spelling; others are learnt from the paths that are asked about."""

    top: str
    aliases: list[str] = field(default_factory=list)
    known: dict[str, str | None] = field(default_factory=dict)

    def relative(self, path: str) -> str | None:
        """The path below the top, None for one outside."""
        if path not in self.known:
            self.known[path] = self._relative(path)
        return self.known[path]

    def _relative(self, path: str) -> str | None:
        clean = posixpath.normpath(path)
        for root in (self.top, *self.aliases):
            if clean.startswith(root + "/"):
                return clean[len(root) + 1 :]
        real = os.path.realpath(clean)
        if not real.startswith(self.top + "/"):
            return None
        below = real[len(self.top) + 1 :]
        if clean.endswith("/" + below):
            self.aliases.append(clean[: -len(below) - 1])
        return below

    @property
    def home(self) -> str:
        """The top as facts name it: as the compile database does."""
        return self.aliases[0] if self.aliases else self.top

    @property
    def spellings(self) -> list[str]:
        return [self.top, *self.aliases]
