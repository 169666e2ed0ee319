"""Helpers that stay loaded: the answers of a process of its own, its bounds, and nothing that is left behind."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from elfscan.image import read_images
from elfscan.tools import Bounds, ToolJob, tool_path
from elfscan.toolserver import ToolServers
from sharing.model import Image, LinemateError
from sharing.model.process import children
from tests.elf.conftest import variables

pytestmark = pytest.mark.usefixtures("native")

UNIT = """
static long count; long table[4];
long add(long n) { count += n; return table[n & 3]++; }
"""


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """An object file with debug information."""
    if shutil.which("gcc") is None or shutil.which("ar") is None:
        pytest.skip("no gcc or ar")
    (tmp_path / "unit.c").write_text(UNIT)
    subprocess.run(["gcc", "-g", "-O1", "-c", "unit.c"], cwd=tmp_path, check=True)
    return tmp_path / "unit.o"


def dwarf(path: Path | str) -> list[str]:
    return [str(tool_path("linemate-dwarf")), str(path)]


def test_the_answer_is_that_of_a_process_of_its_own(unit: Path) -> None:
    with ToolServers() as servers:
        answers = [servers.start(dwarf(unit)).result() for _ in range(3)]
    assert answers == [ToolJob.start(dwarf(unit)).result()] * 3


def test_a_failure_is_its_own(unit: Path, tmp_path: Path) -> None:
    """Neither a file that cannot be read, nor too little memory, nor too little time reaches the next request."""
    with ToolServers() as servers:
        whole = servers.start(dwarf(unit)).result()
        with pytest.raises(LinemateError, match="missing"):
            servers.start(dwarf(tmp_path / "missing")).result()
        with pytest.raises(LinemateError, match="output exceeds the bound"):
            servers.start(dwarf(unit), bounds=Bounds(output_bytes=16)).result()
        with pytest.raises(LinemateError, match="linemate-dwarf: gave no answer in time"):
            servers.start(dwarf(unit), bounds=Bounds(timeout_s=0)).result()
        with pytest.raises(LinemateError) as caught:
            servers.start(dwarf(unit), bounds=Bounds(memory_bytes=4096)).result()
        assert "\n" not in str(caught.value)
        assert servers.start(dwarf(unit)).result() == whole


def test_two_requests_at_once_are_both_answered(unit: Path) -> None:
    with ToolServers() as servers, servers.start(dwarf(unit)) as first, servers.start(dwarf(unit)) as second:
        assert second.result() == first.result()


def test_an_abandoned_request_and_the_helper_end(unit: Path, started: list[subprocess.Popen[bytes]]) -> None:
    with ToolServers() as servers:
        servers.start(dwarf(unit)).close()
        servers.start(dwarf(unit)).result()
    assert len(started) == 2
    assert all(process.returncode is not None for process in started)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that were started meanwhile."""
    seen: list[subprocess.Popen[bytes]] = []
    start: Callable[..., subprocess.Popen[bytes]] = children.start

    def watched(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
        seen.append(start(*arguments, **options))
        return seen[-1]

    monkeypatch.setattr(children, "start", watched)
    return seen


@pytest.mark.parametrize("flags", ["rc", "rcT"])
def test_members_of_an_archive_share_two_helpers(
    unit: Path, flags: str, started: list[subprocess.Popen[bytes]]
) -> None:
    def seen(image: Image) -> tuple[list[str], list[str], int]:
        types = [image.types.name(int(image.variables["type"][row])) for row in variables(image).values()]
        return list(variables(image)), types, len(image.sites)

    folder = unit.parent
    names = [f"m{number}.o" for number in range(12)]
    for name in names:
        shutil.copy(unit, folder / name)
    subprocess.run(["ar", flags, "lib.a", *names], cwd=folder, check=True)
    (alone,) = read_images(str(unit))
    started.clear()
    images = list(read_images(str(folder / "lib.a")))
    assert [image.member for image in images] == names
    assert {str(seen(image)) for image in images} == {str(seen(alone))}
    assert len(seen(alone)[0]) == 2
    assert len(alone.sites) > 2
    assert len(started) == 2
    assert all(process.returncode is not None for process in started)


def test_a_helper_that_was_killed_is_started_again(unit: Path, started: list[subprocess.Popen[bytes]]) -> None:
    with ToolServers() as servers:
        whole = servers.start(dwarf(unit)).result()
        os.kill(started[0].pid, 9)
        started[0].wait()
        assert servers.start(dwarf(unit)).result() == whole
