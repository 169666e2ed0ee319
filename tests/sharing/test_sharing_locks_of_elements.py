"""A lock is an element's own by the array that it is in, not by how its name begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from linemate import api
from sharing.model.finding import Severity
from tests.sharing.conftest import Compile

BOXES = Path(__file__).parents[1] / "e2e" / "programs" / "boxes_with_locks.c"


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize("array", ["locks", "boxes_locks"])
def test_locks_of_another_array_leave_elements_to_be_found(compiled: Compile, tool: str, array: str) -> None:
    text = BOXES.read_text().replace("locks", array)
    found = api.audit(compiled(tool, "c", text, "-O2", "-g"), min_severity=Severity.LOW, config=False).findings
    assert [one.severity for one in found if one.rule == "packed-thread-slots"] == [Severity.HIGH]
