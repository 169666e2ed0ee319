"""Process entry of what audits one file after another; ``linemate.auditing.asking`` starts it.

Owns the loop, and when the process gives way to a fresh one.  Every error becomes an answer.
"""

from __future__ import annotations

import dataclasses
import gc
import os
import resource

from elfscan.tools import Starter
from elfscan.toolserver import ToolServers
from linemate.auditing.asking import Answer, Task
from linemate.auditing.framed import questions, reply, serve
from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.errors import LinemateError
from sharing.model.finding import Report
from sharing.model.guard import begin_run, check_inputs, lost_input

MOST_KB = 1 << 20  # what large files left behind is given back by a fresh process


def main() -> None:
    """Answer until standard input ends."""
    serve(_loop)


def _loop() -> None:
    with ToolServers() as servers:
        for task in questions(Task):
            reply(_answer(dataclasses.replace(task.options, binary=os.fsdecode(task.file)), servers))
            gc.collect()
            if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MOST_KB:
                return


def _answer(options: AuditOptions, starter: Starter) -> Answer:
    try:
        begin_run()
        report: Report = audit(options, starter=starter)
        check_inputs()
        return Answer(report)
    except LinemateError as error:
        return Answer(error=str(lost_input() or error))
    except MemoryError:
        return Answer(error=f"{options.binary}: out of memory", lost=True)
    except Exception as error:
        if (loss := lost_input()) is not None:
            return Answer(error=str(loss))
        return Answer(error=f"{options.binary}: internal error, please report it: {type(error).__name__}: {error}")
