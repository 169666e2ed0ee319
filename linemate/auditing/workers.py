"""Members of an archive, audited by several processes at once.

Owns when that pays, the processes and the order of what they answer: that of the archive, whoever was first.  Worker
``i`` of ``n`` takes every ``n``-th member from the ``i``-th on and stops at the first that it cannot do; that member is
audited here, where its error belongs.  So is all that a worker leaves undone that was killed.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import msgspec

from elfscan.fileformat.archive import elf_entries, is_archive
from elfscan.fileformat.elf import map_file
from elfscan.image import read_images
from linemate.auditing.framed import Child
from linemate.auditing.image import AuditedImage, Runs, audit_image
from linemate.options import AuditOptions
from sharing.knowledge import Knowledge
from sharing.model.errors import LinemateError

# Measured: a member takes 10 ms, and a second for 20 MB; a worker 0.3 s until it begins.
_MEMBER_S = 0.01
_BYTES_A_SECOND = 20e6
_WORKER_S = 0.5  # of expected work, for each worker
_WORTHWHILE_S = 2.0
MOST_WORKERS = 8


class Share(msgspec.Struct, frozen=True):
    """What one worker is asked for: all members from ``first`` on in steps of ``step``."""

    options: AuditOptions
    first: int
    step: int


def audited_members(options: AuditOptions, knowledge: Knowledge) -> Iterator[AuditedImage] | None:
    """The members in order, by several processes; None for what is no archive or too small for that."""
    data = map_file(options.binary)
    if not is_archive(data):
        return None
    members, _ = elf_entries(options.binary, data)
    workers = _workers(len(members), sum(member.size for member in members))
    return _in_order(options, knowledge, len(members), workers) if workers > 1 and sys.executable else None


def _workers(members: int, size_bytes: int) -> int:
    expected_s = members * _MEMBER_S + size_bytes / _BYTES_A_SECOND
    if expected_s < _WORTHWHILE_S:
        return 1
    return min(len(os.sched_getaffinity(0)), MOST_WORKERS, members, int(expected_s / _WORKER_S))


def _in_order(options: AuditOptions, knowledge: Knowledge, members: int, workers: int) -> Iterator[AuditedImage]:
    with ExitStack() as running:
        pool = [running.enter_context(_Worker(Share(options, i, workers))) for i in range(workers)]
        for number in range(members):
            answer = pool[number % workers].answer()
            if answer is None:
                here = slice(number, number + 1)
                for image in read_images(options.binary, debug_file=options.debug_file, members=here):
                    answer = audit_image(image, options, knowledge, Runs())
            if answer is not None:
                yield answer


class _Worker(Child[AuditedImage]):
    """A process that audits a share; one that cannot be started answers nothing."""

    def __init__(self, share: Share) -> None:
        super().__init__(f"{__package__}.child", AuditedImage)
        with contextlib.suppress(LinemateError):
            self.ask(share)
