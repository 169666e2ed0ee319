"""Process entry of what audits one file after another; ``linemate.auditing.asking`` starts it.

Owns the loop, and when the process gives way to a fresh one.  Every error becomes an answer.
"""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import sys

import msgspec

from elfscan.tools import tool_path
from linemate.auditing.asking import FRAME, Answer
from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.errors import LinemateError
from sharing.model.finding import Report
from sharing.model.guard import begin_run, check_inputs, lost_input
from sharing.model.process import children, scratch, stopping

MOST_KB = 1 << 20  # what large files left behind is given back by a fresh process


def main() -> None:
    """Answer until standard input ends."""
    gc.set_threshold(100_000, 50, 50)  # as in a run of the command
    stopping.install()
    children.use_spawner(lambda: str(tool_path("linemate-spawn")))
    with contextlib.suppress(Exception, stopping.Stopped):
        _loop()
    stopping.begin_ending()
    children.end_all()
    scratch.close()
    os._exit(0)


def _loop() -> None:
    encoder = msgspec.msgpack.Encoder()
    decoder = msgspec.msgpack.Decoder(AuditOptions)
    while len(head := sys.stdin.buffer.read(FRAME.size)) == FRAME.size:
        (length,) = FRAME.unpack(head)
        options = decoder.decode(sys.stdin.buffer.read(length))
        body = encoder.encode(_answer(options))
        sys.stdout.buffer.write(FRAME.pack(len(body)) + body)
        sys.stdout.buffer.flush()
        gc.collect()
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MOST_KB:
            return


def _answer(options: AuditOptions) -> Answer:
    try:
        begin_run()
        report: Report = audit(options)
        check_inputs()
        return Answer(report)
    except LinemateError as error:
        return Answer(error=str(lost_input() or error))
    except MemoryError:
        return Answer(error=f"{options.binary}: out of memory")
    except Exception as error:
        if (loss := lost_input()) is not None:
            return Answer(error=str(loss))
        return Answer(error=f"{options.binary}: internal error, please report it: {type(error).__name__}: {error}")
