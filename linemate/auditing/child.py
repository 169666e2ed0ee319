"""Process entry of a worker that audits members of an archive; ``linemate.auditing.workers`` starts it.

Owns the answers and when they end.  Says nothing of errors: whoever wants the members meets them again.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys

import msgspec

from elfscan.image import read_images
from elfscan.tools import tool_path
from linemate.auditing.image import Runs, audit_image
from linemate.auditing.workers import FRAME, Share
from linemate.pipeline import vocabulary
from sharing.model.guard import check_inputs
from sharing.model.process import children, scratch, stopping


def main() -> None:
    """Answer the share that standard input holds."""
    gc.set_threshold(100_000, 50, 50)  # as in a run of the command
    stopping.install()
    children.use_spawner(lambda: str(tool_path("linemate-spawn")))
    with contextlib.suppress(Exception, stopping.Stopped):
        _answer(msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Share))
    stopping.begin_ending()
    children.end_all()
    scratch.close()
    os._exit(0)


def _answer(share: Share) -> None:
    options = share.options
    knowledge = vocabulary(options.project)
    encoder = msgspec.msgpack.Encoder()
    members = slice(share.first, None, share.step)
    for image in read_images(options.binary, debug_file=options.debug_file, members=members):
        body = encoder.encode(audit_image(image, options, knowledge, Runs()))
        check_inputs()  # nothing is told of a file that lost its end meanwhile
        sys.stdout.buffer.write(FRAME.pack(len(body)) + body)
        sys.stdout.buffer.flush()
