"""Files audited by several processes that live as long as the audit: the engine that needs nothing but this machine.

Owns the processes, how long one may take for a file, and what is said of a file whose process ended.
"""

from __future__ import annotations

import os
import select
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from linemate.auditing.asking import Answer, AuditingProcess, Task

MOST_PROCESSES = 64
FILE_S = 900.0  # far above what the largest kernel takes


def answers(tasks: Sequence[Task], jobs: int) -> Iterator[tuple[str, Answer]]:
    """The file of each task with its answer, as they come.

    A process that ends is replaced.  The file that it was at is tried once more, when all others are done.
    """
    # The largest first, so that none is left for one process at the end.
    waiting = deque(sorted(tasks, key=_size, reverse=True))
    with ExitStack() as running:
        processes = max(1, min(jobs, MOST_PROCESSES, len(waiting)))
        idle = [running.enter_context(AuditingProcess()) for _ in range(processes)]
        busy: dict[int, tuple[AuditingProcess, Task, float]] = {}
        again: set[bytes] = set()
        while waiting or busy:
            while waiting and idle:
                process, task = idle.pop(), waiting.popleft()
                process.ask(task)
                busy[process.descriptor] = (process, task, time.monotonic() + FILE_S)
            timeout_s = max(min(limit for _, _, limit in busy.values()) - time.monotonic(), 0.0)
            ready, _, _ = select.select(list(busy), [], [], timeout_s)
            late = [key for key, (_, _, limit) in busy.items() if limit <= time.monotonic()]
            for key in dict.fromkeys([*ready, *late]):
                process, task, _ = busy.pop(key)
                file = os.fsdecode(task.file)
                answer = _answer(process, file) if key in ready else _late(process, file, FILE_S)
                idle.append(process)
                if answer.lost and key in ready and task.file not in again:
                    again.add(task.file)
                    waiting.append(task)
                    continue
                yield file, answer


def answer_within(process: AuditingProcess, task: Task, limit_s: float) -> Answer:
    """One task by one process, which is ended where it takes longer."""
    file = os.fsdecode(task.file)
    process.ask(task)
    ready, _, _ = select.select([process.descriptor], [], [], limit_s)
    return _answer(process, file) if ready else _late(process, file, limit_s)


def _answer(process: AuditingProcess, file: str) -> Answer:
    return process.answer() or Answer(error=f"{file}: the process that read it ended", lost=True)


def _late(process: AuditingProcess, file: str, limit_s: float) -> Answer:
    process.close()
    return Answer(error=f"{file}: not done after {limit_s:g} s", lost=True)


def _size(task: Task) -> int:
    try:
        return os.stat(task.file).st_size
    except OSError:
        return 0
