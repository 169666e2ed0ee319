"""Golden files: what an emitter writes is compared whole, and a difference is shown as a unified diff."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what the emitters produce as the new truth")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """``golden(file_name, text)`` fails with a diff unless ``text`` is exactly the golden file."""
    update = request.config.getoption("--update-golden", default=False)

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if update:
            path.write_bytes(text.encode())
        expected = path.read_bytes().decode() if path.exists() else ""
        if text != expected:
            diff = difflib.unified_diff(
                expected.splitlines(keepends=True), text.splitlines(keepends=True), f"golden/{name}", "produced"
            )
            pytest.fail(f"{name} differs (--update-golden accepts it)\n" + "".join(diff), pytrace=False)

    return check
