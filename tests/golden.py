"""Golden files: what is written is compared whole, and a difference is shown as a unified diff.

A pytest plugin by import: the conftest.py of each area that has golden files takes these names.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """``golden(path, text)`` fails with a diff unless ``text`` is exactly the file; ``--update-golden`` accepts it."""
    update = request.config.getoption("--update-golden", default=False)

    def check(path: Path, text: str) -> None:
        if update:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text.encode())
        expected = path.read_bytes().decode() if path.exists() else ""
        if text != expected:
            diff = difflib.unified_diff(
                expected.splitlines(keepends=True), text.splitlines(keepends=True), f"golden/{path.name}", "produced"
            )
            pytest.fail(f"{path.name} differs (--update-golden accepts it)\n" + "".join(diff), pytrace=False)

    return check
