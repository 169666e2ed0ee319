"""Temporary files of a run: gone with it, and where it was killed, removed by the next start and by nobody before."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sharing.model.errors import LinemateError
from sharing.model.process import scratch
from sharing.model.process.wholefile import write_whole

# A run that says where its folder is and waits.
RUN = """
import sys, time, pathlib
from sharing.model.process import scratch
folder = scratch.folder()
pathlib.Path(folder, "file").touch()
with scratch.beside(pathlib.Path(sys.argv[1])) as making:
    making.mkdir()
    (making / "inner").touch()
    print(folder, making, flush=True)
    time.sleep(100)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary files go, with no run's folder yet."""
    scratch.close()
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    scratch.close()


def started(repository: Path, target: Path) -> tuple[subprocess.Popen[str], Path, Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, str(target)], cwd=repository, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    folder, making = process.stdout.readline().split()
    return process, Path(folder), Path(making)


def test_what_a_killed_run_left_is_removed_and_a_living_run_keeps_its_own(
    place: Path, repository: Path, tmp_path: Path
) -> None:
    living, its_folder, its_making = started(repository, tmp_path / "a")
    killed, folder, making = started(repository, tmp_path / "b")
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert folder.is_dir()
    assert (making / "inner").exists()
    try:
        scratch.sweep()
        assert not folder.exists()
        assert not making.exists()
        assert (its_folder / "file").exists()
        assert (its_making / "inner").exists()
    finally:
        living.kill()
        living.communicate()
    scratch.sweep()
    assert list(place.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"tmp"}


def test_a_claim_removes_no_name_that_is_not_a_making(place: Path, repository: Path, tmp_path: Path) -> None:
    killed, folder, _ = started(repository, tmp_path / "b")
    killed.kill()
    killed.communicate()
    precious = tmp_path / "precious"
    precious.touch()
    (folder / "claim-0").symlink_to(precious)
    scratch.sweep()
    assert not folder.exists()
    assert precious.exists()


def test_the_folder_is_gone_after_the_end(place: Path) -> None:
    folder = Path(scratch.folder())
    (folder / "deep").mkdir()
    (folder / "deep" / "file").touch()
    assert folder.stat().st_mode & 0o077 == 0
    scratch.close()
    assert list(place.iterdir()) == []


def test_a_folder_that_others_may_write_to_is_not_used(place: Path) -> None:
    taken = place / f"linemate-{os.geteuid()}"
    taken.mkdir()
    taken.chmod(0o777)
    (taken / "0123abcd").mkdir()
    scratch.sweep()  # whoever wrote there may have meant others' files
    assert (taken / "0123abcd").is_dir()
    assert Path(scratch.folder()).parent == place
    scratch.close()
    assert list(taken.iterdir()) == [taken / "0123abcd"]


def test_where_nothing_can_be_written_it_says_so(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    monkeypatch.setenv("TMPDIR", "/proc/nowhere")
    monkeypatch.setattr(scratch, "_PLACES", ("/proc",))
    with pytest.raises(LinemateError, match=r"^no folder for temporary files, set TMPDIR to one \(/proc/nowhere: "):
        scratch.folder()


def test_a_file_is_replaced_whole_and_keeps_its_mode(place: Path, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_file_that_cannot_be_written_whole_stays(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fchmod", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert {entry.name for entry in tmp_path.iterdir()} == {"tmp", "file"}
