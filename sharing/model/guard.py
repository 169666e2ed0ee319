"""Mapped inputs that somebody may truncate while they are read.

Owns the mapping of inputs and the error for one that lost its end.  A page behind the end of a mapped file cannot be
read: the kernel ends the process by SIGBUS, which Python cannot catch.  A small native library (elfscan/native/guard)
puts zeros there instead, so that the reader goes on; ``check_inputs`` says afterwards that what was read is worth
nothing.  Where that library is not built, a private copy of the file is mapped: slower, and nobody else can cut it.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import mmap
import os
import tempfile
import weakref

from sharing.model.errors import LinemateError, Malformed
from sharing.model.native import native_file
from sharing.model.process import scratch

LIBRARY = "liblinemate-guard.so"
_COPY_BYTES = 1 << 20
_MAX_COPIED_BYTES = 8 << 30


class GuardedMap(mmap.mmap):
    """A file mapped for reading.  Where its end is cut off, zeros are read and ``check_inputs`` tells."""

    _path = ""
    _slot = -1
    _expected_bytes = 0
    _told = False
    _serial = 0

    def loss(self) -> Malformed | None:
        """The error for a file that became shorter since it was mapped, or that could not be read."""
        fault = _library_fault(self._slot)
        try:
            size = self.size()
        except (OSError, ValueError):
            return None
        if size < self._expected_bytes:
            return Malformed(self._path, size, "the file was truncated while it was read")
        if fault >= 0:
            return Malformed(self._path, fault, "the file could not be read there (truncated, or an I/O error)")
        return None

    def close(self) -> None:
        self._leave()
        super().close()

    def __del__(self) -> None:
        # Before the mapping goes: another one may come to lie at its addresses.
        with contextlib.suppress(Exception):
            self._leave()

    def _leave(self) -> None:
        if self._expected_bytes and not self._told and (loss := self.loss()) is not None:
            _gone.append((self._serial, loss))
        slot, self._slot, self._expected_bytes = self._slot, -1, 0
        if slot >= 0 and (library := _library()) is not None:
            library.linemateGuardRemove(slot)


_open_maps: weakref.WeakSet[GuardedMap] = weakref.WeakSet()
_gone: list[tuple[int, Malformed]] = []  # of mappings that are closed
_serials = itertools.count(1)
_run_began = 0  # a mark


def map_descriptor(path: str, descriptor: int) -> GuardedMap:
    """The whole regular file behind a descriptor; ``path`` is for errors.

    Raises OSError, and Malformed where it is empty.
    """
    try:
        library = _library()
        if library is not None:
            found = GuardedMap(descriptor, 0, access=mmap.ACCESS_READ)
            slot = int(library.linemateGuardAdd(_address(found), len(found)))
            if slot >= 0:
                found._path, found._slot, found._expected_bytes = path, slot, len(found)
                found._serial = next(_serials)
                _open_maps.add(found)
                return found
            found.close()
        return _mapped_copy(path, descriptor)
    except ValueError:  # emptied since the caller looked
        raise Malformed(path, 0, "the file is empty") from None


def _mapped_copy(path: str, descriptor: int) -> GuardedMap:
    with tempfile.TemporaryFile(dir=scratch.folder()) as copy:
        at = 0
        while block := os.pread(descriptor, _COPY_BYTES, at):
            copy.write(block)
            at += len(block)
            if at > _MAX_COPIED_BYTES:
                raise LinemateError(f"{path}: larger than {_MAX_COPIED_BYTES >> 30} GiB, and {LIBRARY} is not built")
        copy.flush()
        return GuardedMap(copy.fileno(), 0, access=mmap.ACCESS_READ)


def begin_run() -> None:
    """What was mapped until now belongs to an earlier run of this process: its losses are not this one's."""
    global _run_began
    _run_began = mark()


def mark() -> int:
    """A point in time: ``check_inputs`` can be asked about what was mapped since."""
    return next(_serials)


def lost_input(since: int | None = None) -> Malformed | None:
    """The first input, mapped after a mark (None: in this run), that lost its end; each is told once."""
    since = _run_began if since is None else since
    for found in list(_open_maps):
        if found._serial > since and not found._told and (loss := found.loss()) is not None:
            found._told = True
            _gone.append((found._serial, loss))
    losses = [(serial, loss) for serial, loss in _gone if serial > since]
    _gone[:] = [row for row in _gone if row[0] <= since]
    return min(losses, key=lambda row: row[0])[1] if losses else None


def check_inputs(since: int | None = None) -> None:
    """Raise Malformed where an input was truncated while it was mapped: what was read of it cannot be trusted.

    ``since`` is a mark, None the beginning of the run.  Called when a reader is done with what it mapped, and before a
    report is printed.
    """
    if (loss := lost_input(since)) is not None:
        raise loss


def _address(found: mmap.mmap) -> int:
    import numpy as np  # whoever has files to guard has it by now; what only asks for help has not

    return int(np.frombuffer(found, np.uint8).__array_interface__["data"][0])


def _library_fault(slot: int) -> int:
    library = _library()
    return int(library.linemateGuardFault(slot)) if library is not None and slot >= 0 else -1


@functools.cache
def _library() -> ctypes.PyDLL | None:
    """The native library with its handler installed; None where it is not built or cannot be used."""
    path = native_file(LIBRARY)
    if path is None:
        return None
    try:
        # PyDLL keeps the interpreter lock: calls do not run side by side.
        library = ctypes.PyDLL(str(path))
        for name, arguments, result in (
            ("linemateGuardInstall", (), ctypes.c_int),
            ("linemateGuardAdd", (ctypes.c_size_t, ctypes.c_size_t), ctypes.c_int),
            ("linemateGuardFault", (ctypes.c_int,), ctypes.c_int64),
            ("linemateGuardRemove", (ctypes.c_int,), None),
        ):
            function = getattr(library, name)
            function.argtypes, function.restype = arguments, result
    except (OSError, AttributeError):
        return None
    return library if library.linemateGuardInstall() == 0 else None
