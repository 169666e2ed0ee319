"""Process entry of what reads one of two builds; ``linemate.explaining.builds`` starts it.

Owns the loop.  What goes wrong of the file's doing becomes an answer; at anything else the process ends, and the one
that asked reads the file itself.
"""

from __future__ import annotations

from pathlib import Path

from linemate.auditing.framed import questions, reply, serve
from linemate.explaining.builds import Answer, BuildRequest, write_side
from sharing.model.errors import LinemateError
from sharing.model.guard import check_inputs
from sharing.model.process import scratch


def main() -> None:
    """Answer until standard input ends."""
    serve(_loop)


def _loop() -> None:
    for asked in questions(BuildRequest):
        file = Path(scratch.folder(), "side")
        try:
            write_side(asked, file)
            check_inputs()
            reply(Answer(str(file)))
        except LinemateError as error:
            reply(Answer(error=str(error)))
