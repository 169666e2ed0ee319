"""System calls by which code asks the kernel for a thread, in programs whose imports cannot say so.

Owns the instructions that make the call on each architecture.  A statically linked program imports nothing, and without
symbols nothing in it is called pthread_create.
"""

from __future__ import annotations

import re

from elfscan.program import Program
from sharing.model import SectionKind

# A number goes into the register of system calls, and the call follows at once: clone is 56 and clone3 435 on x86-64
# (arch/x86/entry/syscalls/syscall_64.tbl), 220 and 435 on AArch64 (include/uapi/asm-generic/unistd.h).
_CALLS = {
    "x86-64": re.compile(rb"\xb8(?:\x38\0\0\0|\xb3\x01\0\0).{0,16}?\x0f\x05", re.DOTALL),
    "aarch64": re.compile(rb"(?:\x88\x1b|\x68\x36)\x80[\x52\xd2](?:.{4}){0,3}?\x01\x00\x00\xd4", re.DOTALL),
}
# CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID, shortly before: what fork asks of clone, by which no thread starts.
_FORK = {"x86-64": re.compile(rb"\x11\x00\x20\x01"), "aarch64": re.compile(rb"\x00\x24\xa0[\x72\xf2]")}
_NEAR = 64


def clone_calls(program: Program) -> int:
    """System calls for a thread in the code of a program; 0 where the instructions are not known."""
    arch = program.elf.arch.name
    if arch not in _CALLS:
        return 0
    found = 0
    for section in program.layout.sections:
        if section.kind is not SectionKind.CODE or section.file_offset is None:
            continue
        at = section.file_offset - program.elf.base
        raw = program.elf.data[at : at + section.size].tobytes()
        starts = [m.start() for m in _CALLS[arch].finditer(raw)]
        found += sum(_FORK[arch].search(raw, max(at - _NEAR, 0), at) is None for at in starts)
    return found
