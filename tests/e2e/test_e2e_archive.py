"""Audits of archives whose members several processes share: what is reported does not show who did what."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from linemate.auditing import framed, workers
from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model import LinemateError, Report
from sharing.model.finding import Severity

MEMBERS = 7

# Objects of other sizes in each, so that none is like another.
UNIT = """
#include <pthread.h>
static char before_%(n)d[%(n)d + 1];
static volatile long first_%(n)d, second_%(n)d;
static void *one(void *argument) { for (;;) first_%(n)d++; return argument; }
static void *other(void *argument) { for (;;) second_%(n)d++; return argument; }
void start_%(n)d(pthread_t *threads) {
  before_%(n)d[0]++;
  pthread_create(threads, 0, one, 0);
  pthread_create(threads + 1, 0, other, 0);
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Object files that differ."""
    where = tmp_path_factory.mktemp("archive")
    for number in range(MEMBERS):
        (where / f"unit{number}.c").write_text(UNIT % {"n": number})
    units = sorted(path.name for path in where.glob("*.c"))
    subprocess.run(["gcc", "-g", "-O1", "-c", *units], cwd=where, check=True)
    return where


def archive_of(folder: Path, path: Path, *members: str) -> Path:
    subprocess.run(["ar", "rc", str(path), *members], cwd=folder, check=True)
    return path


@pytest.fixture
def archive(folder: Path, tmp_path: Path) -> Path:
    return archive_of(folder, tmp_path / "lib.a", *(f"unit{n}.o" for n in range(MEMBERS)))


@pytest.fixture
def audited(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Report]:
    def run(path: Path, count: int) -> Report:
        monkeypatch.setattr(workers, "_workers", lambda members, size: count)
        return audit(AuditOptions(str(path), min_severity=Severity.NOTE))

    return run


@pytest.mark.parametrize("count", [2, 3])
def test_several_processes_report_what_one_does(archive: Path, audited: Callable[..., Report], count: int) -> None:
    alone = audited(archive, 1)
    assert [target.member for target in alone.targets] == [f"unit{n}.o" for n in range(MEMBERS)]
    assert len(alone.findings) >= MEMBERS
    assert audited(archive, count) == alone


def test_the_error_is_that_of_the_first_member_that_has_one(
    archive: Path, folder: Path, tmp_path: Path, audited: Callable[..., Report]
) -> None:
    broken = tmp_path / "unit9.o"
    broken.write_bytes((folder / "unit0.o").read_bytes()[:40])
    archive_of(tmp_path, archive, broken.name)
    errors = []
    for count in (1, 2):
        with pytest.raises(LinemateError) as caught:
            audited(archive, count)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
    assert "unit9.o" in errors[0]


def test_members_of_a_worker_that_was_killed_are_not_lost(
    archive: Path, audited: Callable[..., Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = audited(archive, 1)
    whole = workers._Worker.answer
    answers: list[bool] = []

    def answer(worker: workers._Worker) -> object:
        if len(answers) == 2 and worker._process is not None:
            worker._process.kill()
            worker._process.wait()
        given = whole(worker)
        answers.append(given is not None)
        return given

    monkeypatch.setattr(workers._Worker, "answer", answer)
    assert audited(archive, 2) == alone
    assert answers[:2] == [True, True]


def test_small_archives_start_no_process(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framed.children, "start", lambda *_, **__: pytest.fail("a process for little work"))
    assert workers.audited_members(AuditOptions(str(archive)), object()) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("members", "size", "cores", "expected"),
    [
        (10_000, 60 << 20, 2, 2),
        (10_000, 60 << 20, 64, workers.MOST_WORKERS),
        (10_000, 60 << 20, 1, 1),
        (3, 400 << 20, 64, 3),
        (199, 0, 64, 1),
        (200, 0, 64, 4),
    ],
)
def test_work_is_shared_where_it_is_much(
    members: int, size: int, cores: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.os, "sched_getaffinity", lambda pid: set(range(cores)))
    assert workers._workers(members, size) == expected
