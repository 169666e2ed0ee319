"""``fix --apply`` across any end of the process: all files are changed or none, at the latest with the next start.

Owns the order of steps and the journal.  First a plan is written down, then every new content is put beside its file
together with a second name for the old one; nothing has changed yet, and the next start only tidies up.  Renaming the
plan to a commit is the moment of decision: from there on the next start completes what is missing, or takes everything
back where a file was changed meanwhile.  The journal lies in a folder that only its user may write to, never in the
tree: a tree from elsewhere cannot make a start write anything.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from linemate.fixing.files import AFTER, BEFORE, EditedFile, Row, fault_of, opened, row_of, settle, sync_folder
from linemate.statedir import make_state_folder, state_folders
from sharing.model.errors import LinemateError
from sharing.model.plural import count
from sharing.model.process.stopping import held

SCHEMA = "linemate-fix-journal-1"
PLAN, COMMIT, MAKING = ".plan", ".commit", ".making"
MAX_BYTES = 256 << 20
KEPT_S = 30 * 24 * 3600.0  # a journal of files that are out of reach
_PATIENCE_S = 30.0
_LOOK_S = 0.02

Say = Callable[[str], None]


class Unfinished(LinemateError):
    """Some files may have changed, and the journal stays."""


class Journal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file."""

    schema: str
    rows: tuple[Row, ...]


def write_all(files: dict[Path, tuple[bytes, bytes]]) -> None:
    """Write the new content of all files, or of none.

    Links are followed; mode, owner and attributes are kept.  Raises LinemateError; then no file has changed.
    """
    try:
        home = make_state_folder()
        with _locked(home):
            _write_in(home, files)
    except Unfinished:
        raise
    except LinemateError as error:
        raise LinemateError(f"{error}; nothing was written") from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise LinemateError(f"{where}{error.strerror}; nothing was written") from error


def _write_in(home: Path, files: dict[Path, tuple[bytes, bytes]]) -> None:
    token = secrets.token_hex(4)
    contents = [(os.path.realpath(path, strict=True), content) for path, content in files.items()]
    if len({path for path, _ in contents}) < len(contents):
        raise LinemateError("two of the files are one under two names")
    rows = [row_of(path, number, token, *content) for number, (path, content) in enumerate(contents)]
    journal = home / f"{token}{PLAN}"
    with opened(rows) as found:
        edited_files = [edited for edited in found if edited is not None]
        if len(edited_files) < len(rows):
            raise LinemateError(f"{rows[found.index(None)].path}: its folder cannot be opened")
        try:
            try:
                _write_journal(journal, rows)
            except OSError as error:
                raise LinemateError(f"{home}: {error.strerror}") from error
            for edited, (_, (_, after)) in zip(edited_files, contents, strict=True):
                _staged(edited, after)
            settle(edited_files)
            with held():
                _commit(journal, edited_files)
        except BaseException:
            with held():
                try:
                    _take_back(edited_files)
                    _remove_journals(home, token)
                except OSError as error:
                    raise Unfinished(
                        f"{error.filename or edited_files[0].row.path}: {error.strerror}; the next start of linemate "
                        "fix or check completes the write or takes it back"
                    ) from error
            raise


def recover(say: Say) -> None:
    """Complete or take back what an earlier run was killed over; ``say`` gets a line for each.  Cheap without."""
    for home in state_folders():
        with contextlib.suppress(OSError):
            if any(name.endswith((PLAN, COMMIT, MAKING)) for name in os.listdir(home)):
                with _locked(home):
                    _recover_in(home, say)


def _staged(edited: EditedFile, after: bytes) -> None:
    try:
        edited.stage(after)
    except OSError as error:
        raise LinemateError(f"{edited.row.path}: {error.strerror}") from error


def _commit(journal: Path, edited_files: Sequence[EditedFile]) -> None:
    """The decision and what follows from it."""
    for edited in edited_files:
        if edited.digest(edited.row.name) != edited.row.before:
            raise LinemateError(f"{edited.row.path}: changed meanwhile")
    decided = journal.with_suffix(COMMIT)
    os.rename(journal, decided)
    _sync(journal.parent)
    for edited in edited_files:
        try:
            edited.take(edited.row.new)
        except OSError as error:
            raise LinemateError(f"{edited.row.path}: {error.strerror}") from error
    settle(edited_files)
    for edited in edited_files:
        # Whoever wrote into the old file in the last moment, wrote into what has the second name.
        if edited.digest(edited.row.old) != edited.row.before:
            raise LinemateError(f"{edited.row.path}: changed meanwhile")
    _tidy(edited_files)
    decided.unlink()
    _sync(journal.parent)


def _take_back(edited_files: Sequence[EditedFile]) -> None:
    """Every file is as it was, and what was put beside it is gone."""
    for edited in edited_files:
        row = edited.row
        if edited.exists(row.old) and edited.digest(row.name) == row.after:
            edited.take(row.old)
    settle(edited_files)
    _tidy(edited_files)


def _tidy(edited_files: Sequence[EditedFile]) -> None:
    for edited in edited_files:
        edited.drop(edited.row.new)
        edited.drop(edited.row.old)
    settle(edited_files)


def _recover_in(home: Path, say: Say) -> None:
    for name in sorted(os.listdir(home)):
        path = home / name
        if name.endswith(MAKING):
            path.unlink()
        elif name.endswith((PLAN, COMMIT)):
            rows = _read_journal(path)
            if rows is None:
                say(f"{path}: no journal of an edit, removed")
                path.unlink()
                continue
            with opened(rows) as edited_files, held():
                if _recover_rows(edited_files, decided=name.endswith(COMMIT), say=say) or _is_old(path):
                    path.unlink()
                    _sync(home)


def _recover_rows(found: Sequence[EditedFile | None], *, decided: bool, say: Say) -> bool:
    """Whether the journal is done with."""
    edited_files = [edited for edited in found if edited is not None]
    if not edited_files:
        return not found  # perhaps a disk that is not there today
    if not decided:
        _tidy(edited_files)
        return True
    folder = os.path.dirname(edited_files[0].row.path)
    digests = {edited: edited.digest(edited.row.name) for edited in edited_files}
    missing = [edited for edited, digest in digests.items() if digest == edited.row.before]
    if (
        len(edited_files) == len(found)
        and all(digest in (edited.row.before, edited.row.after) for edited, digest in digests.items())
        and all(edited.digest(edited.row.new) == edited.row.after for edited in missing)
    ):
        for edited in missing:
            edited.take(edited.row.new)
        settle(edited_files)
        _tidy(edited_files)
        say(f"completed an earlier fix --apply that was killed: {count(len(edited_files), 'file')} in {folder}")
        return True
    _recover_backwards(digests, len(found), folder, say)
    return True


def _recover_backwards(digests: dict[EditedFile, str], rows: int, folder: str, say: Say) -> None:
    """Take back what can be, and leave what somebody changed as it is, with both other contents beside it."""
    own = []
    for edited, digest in digests.items():
        row = edited.row
        if digest == row.after and edited.digest(row.old) == row.before:
            edited.take(row.old)
        elif digest != row.before:
            own.append(edited)
    settle(list(digests))
    _tidy([edited for edited in digests if edited not in own])
    back = len(digests) - len(own)
    say(
        f"took back an earlier fix --apply that was killed ({count(back, 'file')} in {folder}), since "
        f"{count(rows - back, 'file')} changed meanwhile"
    )
    for edited in own:
        shown = [name for name in (edited.show(edited.row.old, BEFORE), edited.show(edited.row.new, AFTER)) if name]
        beside = f"; beside it: {', '.join(shown)}" if shown else ""
        say(f"{edited.row.path}: changed meanwhile, left as it is{beside}")


@contextmanager
def _locked(home: Path) -> Iterator[None]:
    """One write or recovery of a user at a time; the lock goes with the process, however it ends."""
    handle = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if error.errno not in (errno.EWOULDBLOCK, errno.EINTR):
                    break  # a file system without locks
            if time.monotonic() > deadline:
                raise LinemateError(f"{home}: another fix --apply has been writing for {_PATIENCE_S:.0f} s")
            time.sleep(_LOOK_S)
        yield
    finally:
        os.close(handle)


def _write_journal(path: Path, rows: Sequence[Row]) -> None:
    making = path.with_suffix(MAKING)
    handle = os.open(making, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        view = memoryview(msgspec.json.encode(Journal(SCHEMA, tuple(rows))))
        while view:
            view = view[os.write(handle, view) :]
        os.fsync(handle)
    finally:
        os.close(handle)
    os.rename(making, path)
    _sync(path.parent)


def _read_journal(path: Path) -> tuple[Row, ...] | None:
    """None for what is no journal of ours."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as file:
            data = file.read(MAX_BYTES + 1)
        journal = msgspec.json.decode(data, type=Journal)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if len(data) > MAX_BYTES or journal.schema != SCHEMA or any(map(fault_of, journal.rows)):
        return None
    return journal.rows


def _remove_journals(home: Path, token: str) -> None:
    for ending in (MAKING, PLAN, COMMIT):
        with contextlib.suppress(OSError):
            (home / f"{token}{ending}").unlink(missing_ok=True)
    _sync(home)


def _is_old(path: Path) -> bool:
    return time.time() - path.stat().st_mtime > KEPT_S


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync_folder(handle)
    finally:
        os.close(handle)
