"""A command as a held child: what it does to the session that it is part of."""

from __future__ import annotations

from pathlib import Path

import pytest

from pmu import workload
from pmu.workload import Workload


@pytest.mark.parametrize(("priority", "meanwhile"), [(True, "-20"), (False, "/autogroup-25 nice 3\n")])
def test_the_group_of_the_session_is_raised_for_the_run_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, priority: bool, meanwhile: str
) -> None:
    group, seen = tmp_path / "autogroup", tmp_path / "seen"
    group.write_text("/autogroup-25 nice 3\n")
    monkeypatch.setattr(workload, "_GROUP", str(group))
    with Workload(["cp", str(group), str(seen)], priority=priority) as work:
        work.release()
        work.wait()
    assert seen.read_text() == meanwhile
    assert group.read_text().split()[-1] == "3"
