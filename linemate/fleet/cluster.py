"""Files audited by the workers of a Dask cluster, each in a process that its worker keeps.

Owns the tasks and how often one is tried.  A worker's own process never reads a file: it asks a child as
``linemate.auditing.processes`` does, with the same confinement and limits, so that a hostile file ends the child.  Dask
gives the tasks of a worker that is lost to another; results are named by content, so that a second try writes the same.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from elfscan.tools import tool_path
from linemate.auditing.asking import Answer, AuditingProcess, Task
from linemate.auditing.framed import body_of
from linemate.auditing.processes import FILE_S, answer_within
from sharing.model.errors import LinemateError
from sharing.model.process import children, scratch

TRIES = 3
CONNECT_S = 30
AHEAD = 8  # tasks handed over for each thread of the cluster: the scheduler never holds a million
_mine = threading.local()  # the child of a thread of a worker


def answers(tasks: Sequence[Task], scheduler: str | None, jobs: int) -> Iterator[tuple[str, Answer]]:
    """The file of each task with its answer, as they come; without ``scheduler`` from workers that are started here.

    Raises LinemateError where there is no cluster.
    """
    try:
        import distributed
    except ImportError:
        raise LinemateError("--engine dask needs dask.distributed: pip install 'linemate[fleet]'") from None
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
            yield from _as_they_come(distributed, client, tasks)
        finally:
            if cluster is not None:
                cluster.close()


def _as_they_come(distributed: Any, client: Any, tasks: Sequence[Task]) -> Iterator[tuple[str, Answer]]:
    waiting = iter(tasks)
    names: dict[str, str] = {}

    def next_ones(n: int) -> list[Any]:
        futures = []
        for task in islice(waiting, n):
            future = client.submit(work, body_of(task), pure=False, retries=TRIES - 1)
            names[future.key] = os.fsdecode(task.file)
            futures.append(future)
        return futures

    running = distributed.as_completed(next_ones(AHEAD * max(sum(client.nthreads().values()), 1)))
    for future in running:
        file = names.pop(future.key)
        if future.status == "finished":
            yield file, msgspec.msgpack.decode(future.result(), type=Answer)
        else:
            yield file, Answer(error=f"{file}: {future.exception()}", lost=True)
        future.release()
        running.update(next_ones(1))


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
