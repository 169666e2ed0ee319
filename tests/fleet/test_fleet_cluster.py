"""An audit by a cluster gives what one process gives, also where a worker is killed in the middle."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from elfscan.tools import ToolJob
from linemate.auditing.asking import Answer, Stored, Task
from linemate.fleet import cluster
from linemate.fleet.run import store_files
from linemate.fleet.store import Store
from linemate.fleet.storing import stored
from linemate.options import AuditOptions
from sharing.model.errors import LinemateError
from sharing.model.process import children

WHY = "is not installed: pip install -r requirements-fleet.txt"
pytest.importorskip("pyarrow", reason=f"pyarrow {WHY}")
distributed = pytest.importorskip("distributed", reason=f"dask.distributed {WHY}")
OPTIONS = AuditOptions("")
FILES = 12


@pytest.fixture(scope="module")
def many(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Programs that differ in their last byte alone, so that each is a content of its own, and one that is broken."""
    folder = tmp_path_factory.mktemp("many")
    data = (tree / "one").read_bytes()
    for number in range(FILES):
        (folder / f"program{number:02}").write_bytes(data + bytes([number]))
    (folder / "broken").write_bytes(data[:3000])
    return [str(file) for file in sorted(folder.iterdir())]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_worker_that_is_killed_loses_nothing_and_nothing_is_there_twice(many: list[str], tmp_path: Path) -> None:
    def here(tasks: Sequence[Task]) -> Iterator[tuple[str, Answer]]:
        for file, task in ((os.fsdecode(task.file), task) for task in tasks):
            yield file, Answer(stored=stored(file, task.options, task.store, resume=False, starter=ToolJob))

    alone = store_files(many, OPTIONS, str(tmp_path / "alone"), here, resume=False)
    started = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=None,
        local_directory=str(tmp_path),
        silence_logs=logging.CRITICAL,
    )
    workers: list[int] = []
    with started:

        def and_kill(tasks: Sequence[Task]) -> Iterator[tuple[str, Answer]]:
            for file, answer in cluster.answers(tasks, started.scheduler_address, 1):
                if not workers:
                    workers.extend(nanny.pid for nanny in started.workers.values())
                    os.kill(workers[0], signal.SIGKILL)
                yield file, answer

        tally = store_files(many, OPTIONS, str(tmp_path / "cluster"), and_kill, resume=False)
    assert len(workers) == 2
    assert (tally.statuses, tally.findings, tally.failed) == (alone.statuses, alone.findings, alone.failed)
    assert (tally.statuses["audited"], tally.statuses["failed"]) == (FILES, 1)
    assert contents(tmp_path / "cluster") == contents(tmp_path / "alone")


class _Future:
    """Stands for a task that is done, as ``status`` says: its result, or the error that it raises."""

    def __init__(self, key: str, status: str, given: bytes | Exception) -> None:
        self.key, self.status, self.given = key, status, given
        self.released = False

    def result(self) -> bytes:
        if isinstance(self.given, Exception):
            raise self.given
        return self.given

    def exception(self) -> Exception | None:
        return self.given if isinstance(self.given, Exception) else None

    def release(self) -> None:
        self.released = True


class _Cluster:
    """Stands for Dask and its client: two tasks at a time, which become the given futures."""

    def __init__(self, futures: list[_Future]) -> None:
        self.futures = {future.key: future for future in futures}

    def nthreads(self) -> dict[str, int]:
        return {}

    def submit(self, work: object, task: bytes, *, pure: bool, retries: int) -> _Future:
        assert (pure, retries) == (False, cluster.TRIES - 1)
        return self.futures[task.decode()]

    def as_completed(self, futures: list[_Future]) -> _Completed:
        return _Completed(futures)


class _Completed(list[_Future]):
    def update(self, futures: list[_Future]) -> None:
        self.extend(futures)


def test_a_result_that_went_with_its_worker_after_it_was_done_is_that_of_the_next_try() -> None:
    futures = [
        _Future("there", "finished", b"1"),
        _Future("gone", "lost", b"2"),  # done, and with a worker that was killed since
        _Future("again", "pending", b"3"),  # the same, and a second try has begun
        _Future("failed", "error", RuntimeError("program: out of memory")),
        _Future("unnamed", "error", MemoryError()),
    ]
    dask = _Cluster(futures)
    tasks = ((future.key, future.key.encode()) for future in futures)
    found = list(cluster._as_they_come(dask, dask, lambda task: task, tasks))
    assert found == [
        cluster.Result("there", b"1"),
        cluster.Result("gone", b"2"),
        cluster.Result("again", b"3"),
        cluster.Result("failed", None, "program: out of memory"),
        cluster.Result("unnamed", None, "MemoryError"),
    ]
    assert all(future.released for future in futures)


class _Child:
    """Stands for a worker's child: answers what it is told to."""

    def __init__(self, said: Answer | None) -> None:
        self.said = said
        self.descriptor, write = os.pipe()
        os.write(write, b"!")
        os.close(write)

    def ask(self, task: Task) -> None:
        assert task.file == b"program"

    def answer(self) -> Answer | None:
        return self.said


def test_a_child_that_is_lost_is_an_error_so_that_the_scheduler_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    task = msgspec.msgpack.encode(Task(b"program", OPTIONS))
    monkeypatch.setattr(children, "use_spawner", lambda find: None)
    for said in (None, Answer(error="program: out of memory", lost=True)):
        monkeypatch.setattr(cluster._mine, "process", _Child(said), raising=False)
        with pytest.raises(RuntimeError, match=r"^program: (the process that read it ended|out of memory)$"):
            cluster.work(task)
    good = Answer(stored=Stored("failed", "program: broken"))
    monkeypatch.setattr(cluster._mine, "process", _Child(good), raising=False)
    assert msgspec.msgpack.decode(cluster.work(task), type=Answer) == good


def test_where_no_scheduler_answers_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_S", 0.2)
    with pytest.raises(LinemateError, match=r"^tcp://127\.0\.0\.1:1: "):
        next(cluster.answers([], "tcp://127.0.0.1:1", 1))


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for missing in ("pyarrow", "pyarrow.parquet", "distributed"):
        monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(LinemateError, match=r"^--format parquet needs pyarrow: .*requirements-fleet\.txt$"):
        Store(str(tmp_path), OPTIONS)
    with pytest.raises(LinemateError, match=r"^--engine dask needs dask.distributed: .*requirements-fleet\.txt$"):
        next(cluster.answers([], None, 1))
