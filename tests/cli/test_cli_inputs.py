"""What may stand where an input is expected: what is not a regular file ends in one line, at once, for every reader."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from analyzer.stream import read_facts
from elfscan.image import read_images
from elfscan.listing import read_listing
from linemate.baseline import read_baseline
from linemate.cli import main
from linemate.config import load_config
from linemate.database import read_database
from linemate.history.store import Store
from linemate.tabletext import table_text
from pmu import read_samples
from pmu.counts.callgrind import read as read_callgrind
from pmu.sidecar import read_sidecar
from sharing.model import LinemateError, Malformed
from sharing.model import guard as guarding
from sharing.model.guard import check_inputs, lost_input
from sharing.model.inputs import map_input, read_input

READERS: dict[str, Callable[[Path], object]] = {
    "binary": lambda path: list(read_images(str(path))),
    "listing": lambda path: read_listing(str(path)),
    "profile": read_samples,
    "counts": read_callgrind,
    "sidecar": read_sidecar,
    "facts": lambda path: list(read_facts(path)),
    "baseline": lambda path: read_baseline(str(path)),
    "configuration": load_config,
    "database": read_database,
    "table": lambda path: table_text(str(path)),
    "history": lambda path: Store(str(path)),
}
KINDS = ("pipe", "directory", "socket", "/dev/zero", "/dev/null")


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    with socket.socket(socket.AF_UNIX) as listener:

        def make(kind: str) -> Path:
            path = tmp_path / kind if "/" not in kind else Path(kind)
            if kind == "pipe":
                os.mkfifo(path)
            elif kind == "directory":
                path.mkdir()
            elif kind == "socket":
                listener.bind(os.path.relpath(path) if len(str(path)) > 100 else str(path))
            return path

        yield make


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_regular_file_is_refused_at_once(reader: str, kind: str, made: Callable[[str], Path]) -> None:
    path = made(kind)
    with pytest.raises(LinemateError, match=r"is a (pipe|directory|socket|device)|is no file|without a file") as caught:
        READERS[reader](path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("reader", [name for name in READERS if name not in ("configuration", "table")])
def test_an_empty_file_is_said_to_be_none_of_ours(reader: str, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(LinemateError, match="empty: "):
        READERS[reader](tmp_path / "empty")


def test_a_size_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "hole"
    path.touch()
    os.truncate(path, 1 << 40)
    with pytest.raises(Malformed, match="larger than 1 MiB: not a note"):
        read_input(path, 1 << 20, "a note")


def test_a_pipe_that_the_shell_made_is_read_where_it_may_be() -> None:
    reading, writing = os.pipe()
    threading.Thread(target=lambda: (os.write(writing, b"a,b\n1,2\n"), os.close(writing))).start()
    assert table_text(f"/dev/fd/{reading}") == "a,b\n1,2\n"
    os.close(reading)


def cut(path: Path, size: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    path.write_bytes(b"x" * 100_000)
    data = np.frombuffer(map_input(path), np.uint8)
    os.truncate(path, size)
    return data


def test_a_file_that_is_truncated_while_it_is_mapped_is_an_error_and_no_crash(tmp_path: Path) -> None:
    data = cut(tmp_path / "cut", 5000)
    threads = [threading.Thread(target=data.sum) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert int(data.sum(dtype=np.int64)) == 5000 * ord("x")
    with pytest.raises(Malformed, match=r"cut: offset 0x1388: the file was truncated while it was read"):
        check_inputs()
    assert lost_input() is None


def test_what_was_truncated_is_told_after_it_was_closed(tmp_path: Path) -> None:
    cut(tmp_path / "cut", 100)
    with pytest.raises(Malformed, match="offset 0x64"):
        check_inputs()


def test_a_file_that_is_left_alone_or_grows_is_none(tmp_path: Path) -> None:
    data = cut(tmp_path / "whole", 100_000)
    os.truncate(tmp_path / "whole", 200_000)
    assert int(data.sum(dtype=np.int64)) == 100_000 * ord("x")
    check_inputs()


def test_what_an_earlier_run_lost_is_not_told_of_the_next(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data = cut(tmp_path / "cut", 100)
    assert main(["rules"]) == 0
    assert capfd.readouterr().err == ""
    assert len(data) == 100_000  # still mapped


def test_without_the_library_a_copy_is_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarding, "_library", lambda: None)
    assert int(cut(tmp_path / "copied", 10).sum(dtype=np.int64)) == 100_000 * ord("x")
