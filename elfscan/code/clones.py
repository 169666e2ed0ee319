"""System calls by which code asks the kernel for a thread, in programs whose imports cannot say so.

Owns the search; what the instructions look like stands in the row of the architecture.  A statically linked program
imports nothing, and without symbols nothing in it is called pthread_create.
"""

from __future__ import annotations

import re

from elfscan.fileformat.program import Program
from sharing.model import SectionKind

# Bytes before the call in which fork's flags are set.
_NEAR = 64


def clone_calls(program: Program) -> int:
    """System calls for a thread in the code of a program; 0 where the instructions are not known."""
    known = program.elf.machine.threads
    if known is None:
        return 0
    call, fork = re.compile(known.call, re.DOTALL), re.compile(known.fork)
    found = 0
    for section in program.layout.sections:
        if section.kind is not SectionKind.CODE or section.file_offset is None:
            continue
        at = section.file_offset - program.elf.base
        raw = program.elf.data[at : at + section.size].tobytes()
        starts = [m.start() for m in call.finditer(raw)]
        found += sum(fork.search(raw, max(at - _NEAR, 0), at) is None for at in starts)
    return found
