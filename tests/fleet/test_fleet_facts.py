"""Facts that the workers of a cluster read are those that one machine reads: same units, same order, same report."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from analyzer.run import run_facts
from analyzer.stream import read_facts
from linemate.checking.run import Comparison, check
from linemate.database import Entry, write_database
from linemate.fleet import facts
from linemate.fleet.cluster import Result
from linemate.fleet.facts import gather_on_cluster
from linemate.options import CheckOptions, FactsRequest
from sharing.model.errors import LinemateError
from sharing.model.facts import FactsEnd, FactsFailure, FactsHeader, UnitFacts
from sharing.model.finding import Severity
from sharing.model.project import ProjectConfig

WHY = "is not installed: pip install -r requirements-fleet.txt"
UNITS = {
    "lock.c": "#include <pthread.h>\npthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\nlong hits;\n",
    "main.c": """#include <pthread.h>
extern pthread_mutex_t lock; extern long hits;
static void *work(void *unused) {
  for (;;) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); __atomic_fetch_add(&hits, 1, 0); }
  return unused;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}
""",
    "other.c": "long other;\n",
}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three units and one that is not there; the second is compiled twice."""
    folder = tmp_path_factory.mktemp("units")
    for name, text in UNITS.items():
        (folder / name).write_text(text)
    names = ("lock.c", "main.c", "absent.c", "other.c", "main.c")
    write_database(
        folder / "compile_commands.json",
        [Entry(str(folder), name, ("cc", "-O2", f"-DN={at}", "-c", name)) for at, name in enumerate(names)],
    )
    return folder / "compile_commands.json"


@pytest.fixture
def two_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "UNITS", 2)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, two_a_task: None) -> dict[str, str]:
    """A cluster without processes, which answers the last task first; tasks named in what is returned fail."""
    lost: dict[str, str] = {}

    def results(work: Any, tasks: Any, scheduler: str | None, jobs: int) -> Iterator[Result]:
        for name, task in reversed(list(tasks)):
            yield Result(name, None, lost[name]) if name in lost else Result(name, work(task))

    monkeypatch.setattr(facts, "results", results)
    return lost


def documents(stream: Path) -> list[str]:
    """The lines without what tells where and how they were made."""
    rows = [json.loads(line) for line in stream.read_text().splitlines()]
    return [json.dumps({**row, "cached": 0}, sort_keys=True) for row in rows]


def test_the_stream_is_that_of_one_machine(database: Path, here: dict[str, str], tmp_path: Path) -> None:
    request = FactsRequest(database=str(database))
    whole = gather_on_cluster(request, ProjectConfig(), tmp_path)
    assert documents(whole) == documents(run_facts(request))
    assert [type(line) for line in read_facts(whole)] == [
        FactsHeader, UnitFacts, UnitFacts, FactsFailure, UnitFacts, UnitFacts, FactsEnd
    ]  # fmt: skip
    chosen = gather_on_cluster(
        FactsRequest(database=str(database), sources=(str(database.parent / "main.c"),)), ProjectConfig(), tmp_path
    )
    units = [line for line in read_facts(chosen) if isinstance(line, UnitFacts)]
    assert [Path(unit.path).name for unit in units] == ["main.c", "main.c"]


def test_units_of_a_task_that_failed_are_failures_and_the_others_are_there(
    database: Path, here: dict[str, str], tmp_path: Path
) -> None:
    here["0"] = "linemate-facts: out of memory"
    lines = list(read_facts(gather_on_cluster(FactsRequest(database=str(database)), ProjectConfig(), tmp_path)))
    failed = [(Path(line.path).name, line.reason) for line in lines if isinstance(line, FactsFailure)]
    assert failed[-2:] == [("lock.c", here["0"]), ("main.c", here["0"])]
    assert lines[-1] == FactsEnd(units=5, failed=3, cached=0)
    here |= {"1": here["0"], "2": here["0"]}
    with pytest.raises(LinemateError, match="out of memory"):
        gather_on_cluster(FactsRequest(database=str(database)), ProjectConfig(), tmp_path)


def test_workers_of_another_version_are_refused(
    database: Path, here: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(request: FactsRequest, project: ProjectConfig, within: Path) -> Path:
        stream = run_facts(request, project, within)
        lines = stream.read_bytes().splitlines(keepends=True)
        if b"lock.c" not in lines[1]:
            lines[0] = msgspec.json.encode(FactsHeader("linemate-facts-1", "9.9.9", "19")) + b"\n"
        stream.write_bytes(b"".join(lines))
        return stream

    monkeypatch.setattr(facts, "run_facts", other)
    with pytest.raises(LinemateError, match="different versions"):
        gather_on_cluster(FactsRequest(database=str(database)), ProjectConfig(), tmp_path)


def test_a_check_by_a_cluster_finds_what_a_check_finds(database: Path, two_a_task: None, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason=f"dask.distributed {WHY}")
    started = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=None,
        local_directory=str(tmp_path),
        silence_logs=logging.CRITICAL,
    )
    alone = FactsRequest(database=str(database))
    with started:
        spread = FactsRequest(database=str(database), scheduler=started.scheduler_address)
        found, _ = check(CheckOptions(spread, min_severity=Severity.NOTE), Comparison())
    expected, _ = check(CheckOptions(alone, min_severity=Severity.NOTE), Comparison())
    assert found == expected
    assert {name for finding in found.findings for name in (who.name for who in finding.participants)} >= {
        "lock", "hits"
    }  # fmt: skip
