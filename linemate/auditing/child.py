"""Process entry of a worker that audits members of an archive; ``linemate.auditing.workers`` starts it.

Owns the answers and when they end.  Says nothing of errors: whoever wants the members meets them again.
"""

from __future__ import annotations

from elfscan.image import read_images
from linemate.auditing.framed import questions, reply, serve
from linemate.auditing.image import Runs, audit_image
from linemate.auditing.workers import Share
from linemate.pipeline import vocabulary
from sharing.model.guard import check_inputs


def main() -> None:
    """Answer the share that standard input holds."""
    serve(_answer)


def _answer() -> None:
    share = next(questions(Share))
    options = share.options
    knowledge = vocabulary(options.project)
    members = slice(share.first, None, share.step)
    for image in read_images(options.binary, debug_file=options.debug_file, members=members):
        audited = audit_image(image, options, knowledge, Runs())
        check_inputs()  # nothing is told of a file that lost its end meanwhile
        reply(audited)
