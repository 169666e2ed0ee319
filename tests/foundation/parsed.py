"""The syntax trees of modules, each made once a run: parsing all of them takes seconds."""

from __future__ import annotations

import ast
import functools
from pathlib import Path


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())
