"""Process entry of what audits one file after another; ``linemate.auditing.asking`` starts it.

Owns the loop, and when the process gives way to a fresh one.  Every error becomes an answer.
"""

from __future__ import annotations

import dataclasses
import gc
import os
import resource

import msgspec

from elfscan.tools import Starter
from elfscan.toolserver import ToolServers
from linemate.auditing.asking import Answer, Task
from linemate.auditing.framed import questions, reply, serve
from linemate.pipeline import audit
from sharing.model.errors import LinemateError, Unrecognized
from sharing.model.finding import Report
from sharing.model.guard import begin_run, check_inputs, lost_input

MOST_KB = 1 << 20  # what large files left behind is given back by a fresh process


def main() -> None:
    """Answer until standard input ends."""
    serve(_loop)


def _loop() -> None:
    with ToolServers() as servers:
        for number, task in enumerate(questions(Task)):
            answer = _answer(task, os.fsdecode(task.file), servers)
            gc.collect()
            if number == 0:
                gc.freeze()  # code and tables: looking through them each time took as long as a small file
            last = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MOST_KB
            reply(msgspec.structs.replace(answer, last=last))
            if last:
                return


def _answer(task: Task, file: str, starter: Starter) -> Answer:
    try:
        begin_run()
        if task.store:
            from linemate.fleet.storing import stored

            return Answer(stored=stored(file, task.options, task.store, resume=task.resume, starter=starter))
        report: Report = audit(dataclasses.replace(task.options, binary=file), starter=starter)
        check_inputs()
        return Answer(report)
    except Unrecognized as error:
        return Answer(error=str(error), other=True)
    except LinemateError as error:
        return Answer(error=str(lost_input() or error))
    except MemoryError:
        return Answer(error=f"{file}: out of memory", lost=True)
    except Exception as error:
        if (loss := lost_input()) is not None:
            return Answer(error=str(loss))
        return Answer(error=f"{file}: internal error, please report it: {type(error).__name__}: {error}")
