"""Both builds of a comparison, read by two processes: what the other one answers is what this one would say."""

from __future__ import annotations

from pathlib import Path

import pytest

from linemate.explaining import builds
from linemate.explaining.builds import BuildRequest, both
from linemate.explaining.run import ExplainRequest, explain
from sharing.explain.compare import Side
from sharing.model.errors import LinemateError
from sharing.model.project import ProjectConfig
from tests.explain.conftest import BuildTableCache


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every file has a process of its own; those that are read by this one are listed."""
    read: list[str] = []
    own = builds.side_of

    def side_of(asked: BuildRequest) -> Side:
        read.append(asked.path.decode())
        return own(asked)

    monkeypatch.setattr(builds, "side_of", side_of)
    monkeypatch.setattr(builds, "APART_BYTES", 0)
    monkeypatch.setattr(builds.os, "sched_getaffinity", lambda pid: {0, 1})
    return read


def test_two_processes_say_what_one_says(table_cache: BuildTableCache, here: list[str]) -> None:
    old, new = table_cache(), table_cache("-DEXTRA_SYSVAR")
    request = ExplainRequest(str(old), str(new), sensitivity=True)
    apart = explain(request)
    assert here == [str(new)], "the other process read the old build"
    builds.APART_BYTES = 1 << 40
    assert explain(request) == apart


def test_what_the_other_process_cannot_read_is_said_as_ever(
    table_cache: BuildTableCache, tmp_path: Path, here: list[str]
) -> None:
    text = tmp_path / "text"
    text.write_text("no program\n")
    asked = [BuildRequest.of(str(path), None, None, ProjectConfig()) for path in (text, table_cache())]
    with pytest.raises(LinemateError, match="text: not an ELF file"):
        both(asked[0], asked[1])
    assert len(here) == 1
