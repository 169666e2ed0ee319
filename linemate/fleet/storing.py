"""One file's audit into datasets: what a process of any engine does for a file.

Owns the order: what is known is not read, what is read is audited and stored, and the row about the file comes last.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path

from elfscan.tools import Starter
from linemate.auditing.asking import Stored
from linemate.auditing.choosing import begins_as_program
from linemate.auditing.spool import made_by
from linemate.fleet.folders import is_url, opened, tried
from linemate.fleet.store import FAILED, LEFT_OUT, Identity, Rows, Store, identity_of
from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.errors import LinemateError, Unrecognized
from sharing.model.guard import check_inputs, lost_input
from sharing.model.inputs import NotReadable
from sharing.model.process import scratch

Stamp = tuple[int, int]  # size in bytes, time of the last change in nanoseconds where that is known
_stores: dict[tuple[str, str], Store] = {}


def stored(path: str, options: AuditOptions, folder: str, *, resume: bool, starter: Starter) -> Stored:
    """Audit the file and write its results below ``folder``, where they are not yet.

    Raises LinemateError where they cannot be written; that a file cannot be audited is a result.
    """
    store = _store(folder, options)
    stamp = stamp_of(path)
    if resume and (known := store.row_of(path, stamp)) is not None:
        return known
    identity: Identity | None = None
    rows = Rows()
    try:
        with _fetched(path) as file:
            if not begins_as_program(file):
                found: Stored | None = Stored(LEFT_OUT)
            else:
                identity = identity_of(file)
                found = store.known(identity)
                if found is None:
                    audit(dataclasses.replace(options, binary=file), starter=starter, on_image=rows.add)
                    check_inputs()
        if stamp_of(path) != stamp:
            raise LinemateError(f"{path}: changed while it was read")
    except Unrecognized:
        found = Stored(LEFT_OUT)
    except LinemateError as error:
        found = Stored(FAILED, str(lost_input() or error).removeprefix(f"{path}: "))
    if found is None:
        assert identity is not None
        found = store.add(identity, rows)
    store.add_file(path, stamp, identity, found)
    return found


def stamp_of(path: str) -> Stamp:
    """What changes when the file does; zeros where it is gone."""
    if not is_url(path):
        try:
            status = os.stat(path)
        except OSError:
            return 0, 0
        return status.st_size, status.st_mtime_ns
    system, name = opened(path)
    try:
        told = tried(path, system.info, name)
    except FileNotFoundError:
        return 0, 0
    changed = told.get("mtime", told.get("LastModified", told.get("updated", 0)))
    if hasattr(changed, "timestamp"):
        changed = changed.timestamp()
    return int(told.get("size") or 0), int(float(changed) * 1e9) if isinstance(changed, int | float) else 0


def _store(folder: str, options: AuditOptions) -> Store:
    """Opened once by a process that stores many files."""
    key = folder, made_by(options)
    if key not in _stores:
        _stores.clear()
        _stores[key] = Store(folder, options)
    return _stores[key]


@contextlib.contextmanager
def _fetched(path: str) -> Iterator[str]:
    """A file on this machine: the file itself, or a copy of what a URL leads to."""
    if not is_url(path):
        yield path
        return
    system, name = opened(path)
    with scratch.subfolder("fetched") as folder:
        copy = Path(folder, "file")
        try:
            tried(path, system.get_file, name, str(copy))
        except FileNotFoundError:
            raise NotReadable(path, "no such file") from None
        yield str(copy)
