"""Work done by the workers of a Dask cluster: any tasks, and of them the audits of files.

Owns how many tasks are handed over at a time and how often one is tried.  A worker's own process never reads a file: it
asks a child as ``linemate.auditing.processes`` does, with the same confinement and limits, so that a hostile file ends
the child.  Dask gives the tasks of a worker that is lost to another; results are named by content, so that a second try
writes the same.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import msgspec

from elfscan.tools import tool_path
from linemate.auditing.asking import Answer, AuditingProcess, Task
from linemate.auditing.framed import body_of
from linemate.auditing.processes import FILE_S, answer_within
from linemate.extras import missing
from sharing.model.errors import LinemateError
from sharing.model.process import children, scratch

TRIES = 3
CONNECT_S = 30
AHEAD = 8  # tasks handed over for each thread of the cluster: the scheduler never holds a million
_mine = threading.local()  # the child of a thread of a worker


@dataclass(frozen=True, slots=True)
class Result:
    """Of the task called ``name``: what the work gave, or None and why."""

    name: str
    given: bytes | None
    why: str = ""


def answers(tasks: Sequence[Task], scheduler: str | None, jobs: int) -> Iterator[tuple[str, Answer]]:
    """The file of each task with its answer, as they come.  Arguments and errors as of ``results``."""
    named = ((os.fsdecode(task.file), body_of(task)) for task in tasks)
    for result in results(work, named, scheduler, jobs):
        if result.given is None:
            yield result.name, Answer(error=f"{result.name}: {result.why}", lost=True)
        else:
            yield result.name, msgspec.msgpack.decode(result.given, type=Answer)


def results(
    work: Callable[[bytes], bytes], tasks: Iterable[tuple[str, bytes]], scheduler: str | None, jobs: int
) -> Iterator[Result]:
    """What ``work`` makes of each task (its name and what ``work`` gets), as they come.

    Without ``scheduler`` from ``jobs`` workers that are started here.  Raises LinemateError where there is no cluster.
    """
    try:
        import distributed
    except ImportError:
        raise missing("--engine dask needs dask.distributed", "fleet") from None
    try:
        if scheduler is None:
            place = scratch.folder()
            cluster = distributed.LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                dashboard_address=None,
                local_directory=place,
                silence_logs=logging.ERROR,
            )
            client = distributed.Client(cluster)
        else:
            cluster, client = None, distributed.Client(scheduler, timeout=CONNECT_S)
    except (OSError, RuntimeError, ValueError) as error:
        raise LinemateError(f"{scheduler or 'a cluster here'}: {error}") from error
    with client:
        try:
            yield from _as_they_come(distributed, client, work, iter(tasks))
        finally:
            if cluster is not None:
                cluster.close()


def _as_they_come(
    distributed: Any, client: Any, work: Callable[[bytes], bytes], waiting: Iterator[tuple[str, bytes]]
) -> Iterator[Result]:
    names: dict[str, str] = {}

    def next_ones(n: int) -> list[Any]:
        futures = []
        for name, task in islice(waiting, n):
            future = client.submit(work, task, pure=False, retries=TRIES - 1)
            names[future.key] = name
            futures.append(future)
        return futures

    running = distributed.as_completed(next_ones(AHEAD * max(sum(client.nthreads().values()), 1)))
    for future in running:
        yield _result(names.pop(future.key), future)
        future.release()
        running.update(next_ones(1))


def _result(name: str, future: Any) -> Result:
    """Of a task that is done.  Where its result went with its worker since, the next worker's is waited for."""
    try:
        return Result(name, future.result())
    except Exception as error:  # that of the work, or of Dask, which gave up
        return Result(name, None, str(error) or type(error).__name__)


def work(task: bytes) -> bytes:
    """Within a worker: one task by the child of this thread.  An error makes the scheduler try again."""
    process: AuditingProcess | None = getattr(_mine, "process", None)
    if process is None:
        children.use_spawner(lambda: str(tool_path("linemate-spawn")))
        process = _mine.process = AuditingProcess()
    answer = answer_within(process, msgspec.msgpack.decode(task, type=Task), FILE_S)
    if answer.lost:
        raise RuntimeError(answer.error)
    return body_of(answer)
