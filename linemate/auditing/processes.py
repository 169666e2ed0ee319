"""Files audited by several processes that live as long as the audit: the engine that needs nothing but this machine.

Owns the processes, how long one may take for a file, and what is said of a file whose process ended.
"""

from __future__ import annotations

import dataclasses
import os
import select
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from linemate.auditing.asking import Answer, AuditingProcess, Task
from linemate.options import AuditOptions

MOST_PROCESSES = 64
FILE_S = 900.0  # far above what the largest kernel takes


def answers(files: Sequence[str], options: AuditOptions, jobs: int) -> Iterator[tuple[str, Answer]]:
    """Each file with its answer, as they come.  A process that ends loses the file that it was at and is replaced."""
    # The largest first, so that none is left for one process at the end.
    waiting = deque(sorted(files, key=_size, reverse=True))
    with ExitStack() as running:
        processes = max(1, min(jobs, MOST_PROCESSES, len(waiting)))
        idle = [running.enter_context(AuditingProcess()) for _ in range(processes)]
        busy: dict[int, tuple[AuditingProcess, str, float]] = {}
        while waiting or busy:
            while waiting and idle:
                process, file = idle.pop(), waiting.popleft()
                process.ask(Task(os.fsencode(file), dataclasses.replace(options, binary="")))
                busy[process.descriptor] = (process, file, time.monotonic() + FILE_S)
            timeout_s = max(min(limit for _, _, limit in busy.values()) - time.monotonic(), 0.0)
            ready, _, _ = select.select(list(busy), [], [], timeout_s)
            late = [key for key, (_, _, limit) in busy.items() if limit <= time.monotonic()]
            for key in dict.fromkeys([*ready, *late]):
                process, file, _ = busy.pop(key)
                if key in ready:
                    answer = process.answer() or Answer(error=f"{file}: the process that read it ended", lost=True)
                else:
                    process.close()
                    answer = Answer(error=f"{file}: not done after {FILE_S:g} s", lost=True)
                idle.append(process)
                yield file, answer


def _size(file: str) -> int:
    try:
        return os.stat(file).st_size
    except OSError:
        return 0
