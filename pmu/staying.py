"""A command that stays on the processors it was given, though it binds its threads by number.

Owns the filter of system calls that answers each request to bind a thread as granted, without following it.  It holds
for programs that are linked statically too, and for all that the command starts.  Nothing else is filtered.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

from sharing.model.arch import machine_of_uname
from sharing.model.errors import LinemateError

_64_BITS, _LITTLE_ENDIAN = 0x80000000, 0x40000000  # in the kernel's number of an architecture (linux/audit.h)
# linux/filter.h and linux/seccomp.h
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4
_ALLOW, _ANSWER = 0x7FFF0000, 0x00050000  # the latter with the error in its low bits: none
_SET_FILTER, _KEEP_SPECULATION = 1, 4  # without the flag, older kernels slow the filtered program down
_NO_NEW_PRIVILEGES = 38


class AffinityFilter:
    """The filter, made ready before a fork: ``apply`` is for the child.

    Raises LinemateError on an architecture whose system calls are not known.
    """

    def __init__(self) -> None:
        row = machine_of_uname(platform.machine())
        if row is None or row.calls is None:
            raise LinemateError(f"--ignore-affinity: not known how on {platform.machine()}")
        self._seccomp = row.calls.seccomp
        architecture = row.e_machine | _LITTLE_ENDIAN | (_64_BITS if row.bits == 64 else 0)
        code = _filter(architecture, row.calls.sched_setaffinity)
        self._code = ctypes.create_string_buffer(code, len(code))
        self._program = ctypes.create_string_buffer(struct.pack("@HP", len(code) // 8, ctypes.addressof(self._code)))
        self._libc = ctypes.CDLL(None, use_errno=True)

    def apply(self) -> None:
        """For this process and all that it starts.  Raises OSError."""
        error = self._set()
        if error == errno.EACCES:  # without privileges a filter is only for processes that can gain none
            self._libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
            error = self._set()
        if error:
            raise OSError(error, f"--ignore-affinity: {os.strerror(error)}")

    def _set(self) -> int:
        flags = ctypes.c_ulong(_KEEP_SPECULATION)
        done = self._libc.syscall(self._seccomp, ctypes.c_ulong(_SET_FILTER), flags, self._program)
        return ctypes.get_errno() if done else 0


def _filter(architecture: int, call: int) -> bytes:
    """Steps of struct sock_filter: operation, steps to skip if it is so and if not, operand."""
    steps = (
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_IF_EQUAL, 0, 2, architecture),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_JUMP_IF_EQUAL, 1, 0, call),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ANSWER),
    )
    return b"".join(struct.pack("@HBBI", *step) for step in steps)
