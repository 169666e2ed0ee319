"""Temporary files of a run: one folder, and names beside files that are to be replaced, gone when the run is.

Owns the folder, the claims on names elsewhere, and the removal of what killed runs left.  A run holds a lock on its
folder for as long as it lives, however it ends; the next start removes the folders that nobody holds, and what they
claim.  Folders of runs stand in one folder that only their user may enter, so what it says can be trusted.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sharing.model.errors import LinemateError
from sharing.model.folders import remove_tree, walk
from sharing.model.process.stopping import held

_MARK = ".linemate-"
_CLAIM = "claim-"
_STEM_BYTES = 100
_PLACES = ("/tmp", "/var/tmp")
_TOKEN_BYTES = 4  # all names are of one length, so that paths that get into binaries do not move anything


class _Run:
    """The folder of this process.  ``lock`` is an open descriptor of it, which holds the lock."""

    def __init__(self, path: str, lock: int) -> None:
        self.path, self.lock, self.pid = path, lock, os.getpid()


_run: list[_Run] = []


def folder() -> str:
    """This run's folder for temporary files, made when it is first asked for.

    Raises LinemateError where no place takes one.
    """
    if _run and _run[0].pid == os.getpid():
        return _run[0].path
    with held():
        _run[:] = [_made()]
        atexit.register(close)
    return _run[0].path


@contextmanager
def subfolder(name: str) -> Iterator[Path]:
    """A new folder in this run's, gone afterwards."""
    path = Path(folder(), f"{name}-{secrets.token_hex(_TOKEN_BYTES)}")
    path.mkdir(mode=0o700)
    try:
        yield path
    finally:
        remove(path)


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """A name in the folder of ``target`` for what is to take its place.  What is left under it in the end is removed.

    The name is written down first, so that the next start removes what a killed run leaves there.
    """
    # A name has at most 255 bytes, whatever characters they make.
    stem = os.fsdecode(os.fsencode(target.name)[:_STEM_BYTES])
    path = target.with_name(f".{stem}{_MARK}{secrets.token_hex(_TOKEN_BYTES)}")
    claim = _claim(path)
    try:
        yield path
    finally:
        with held():
            remove(path)
            if claim is not None:
                claim.unlink(missing_ok=True)


def close() -> None:
    """Remove this run's folder and all that it claims.  The next call of ``folder`` makes a new one."""
    if not _run or _run[0].pid != os.getpid():
        return
    run = _run.pop()
    _remove_run(run.path)
    os.close(run.lock)
    with contextlib.suppress(OSError), _opened(os.path.dirname(run.path)) as home:
        fcntl.flock(home, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rmdir(os.path.dirname(run.path))


def sweep() -> None:
    """Remove what runs left that were killed.  Never fails: what cannot be removed stays."""
    for place in _places():
        home = _home(place)
        with contextlib.suppress(OSError):
            if not os.path.isdir(home) or not _is_private(home):
                continue
            with _opened(home) as handle, contextlib.ExitStack() as dead:
                # Where another run holds it, that one starts, and has swept before.
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                found = [path for name in os.listdir(home) if _is_dead(path := os.path.join(home, name), dead)]
                fcntl.flock(handle, fcntl.LOCK_UN)  # removing may take long
                for path in found:
                    _remove_run(path)
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.rmdir(home)


def remove(path: Path) -> None:
    """Remove a file, or a folder with all in it, folders that nobody may write to as well; links are not followed."""
    with contextlib.suppress(OSError):
        if path.is_symlink() or not path.is_dir():
            path.unlink(missing_ok=True)
            return
        remove_tree(path)
        if not path.exists():
            return
        for where, names, _ in walk(path):
            for name in (".", *names):
                inner = os.path.join(where, name)
                if not os.path.islink(inner):
                    with contextlib.suppress(OSError):
                        os.chmod(inner, stat.S_IRWXU)
        remove_tree(path)


def _places() -> list[str]:
    named = os.environ.get("TMPDIR", "")
    return list(dict.fromkeys([*([named] if os.path.isabs(named) else []), *_PLACES]))


def _home(place: str) -> str:
    return os.path.join(place, f"linemate-{os.geteuid()}")


def _made() -> _Run:
    reasons = []
    for place in _places():
        try:
            return _in_home(_home(place))
        except OSError as error:
            reasons.append(f"{place}: {error.strerror or error}")
    raise LinemateError(f"no folder for temporary files, set TMPDIR to one ({'; '.join(reasons)})")


def _in_home(home: str) -> _Run:
    for _ in range(100):
        with contextlib.suppress(FileExistsError):
            os.mkdir(home, 0o700)
        if not _is_private(home):
            # Somebody else took the name: a folder that the next start does not find, but only we can write to.
            path = f"{home}-{secrets.token_hex(8)}"
            os.mkdir(path, 0o700)
            return _Run(path, _locked(path))
        try:
            handle = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # a run that ended has removed it
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            path = os.path.join(home, secrets.token_hex(_TOKEN_BYTES))
            with contextlib.suppress(FileNotFoundError, FileExistsError):
                os.mkdir(path, 0o700)
                return _Run(path, _locked(path))
        finally:
            os.close(handle)
    raise OSError(0, f"{home} comes and goes")


def _locked(path: str) -> int:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def _is_private(path: str) -> bool:
    """Whether it is a folder of ours that nobody else can write to."""
    found = os.lstat(path)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


@contextmanager
def _opened(path: str) -> Iterator[int]:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield handle
    finally:
        os.close(handle)


def _claim(path: Path) -> Path | None:
    """Write down a name outside of the run's folder; None where there is none to write it in."""
    try:
        claim = Path(folder(), f"{_CLAIM}{secrets.token_hex(_TOKEN_BYTES)}")
        claim.symlink_to(path.absolute())
    except (LinemateError, OSError):
        return None
    return claim


def _is_dead(path: str, kept: contextlib.ExitStack) -> bool:
    """Whether no run holds the folder; then it is held until ``kept`` ends."""
    try:
        handle = kept.enter_context(_opened(path))
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_run(path: str) -> None:
    with contextlib.suppress(OSError):
        for entry in os.scandir(path):
            if entry.name.startswith(_CLAIM) and entry.is_symlink():
                claimed = Path(os.readlink(entry.path))
                if _MARK in claimed.name and claimed.name.startswith("."):
                    remove(claimed)
    remove(Path(path))
