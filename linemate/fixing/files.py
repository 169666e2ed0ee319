"""One file of a write that changes all files or none: what is on disk under its three names, and how that moves.

Owns the system calls, each by an open folder, so that a link that appears on the way leads nowhere.  The order of
steps, and what they mean together, is ``linemate.fixing.journal``'s.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec

from sharing.model.errors import LinemateError

MARK = ".linemate-"
BEFORE, AFTER = ".linemate-before", ".linemate-after"
_BLOCK_BYTES = 1 << 20
_STEM_BYTES = 100
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS, errno.EXDEV, errno.EACCES)


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file.  ``new`` and ``old`` are the names of the other contents beside it; ``before`` and ``after`` digests.

    Paths are bytes, each as the character of its number: names need not be UTF-8.
    """

    folder: str
    name: str
    new: str
    old: str
    before: str
    after: str

    @property
    def path(self) -> str:
        return os.path.join(raw(self.folder), raw(self.name))


def raw(text: str) -> str:
    """A name from a row as Python has names."""
    return os.fsdecode(text.encode("latin-1"))


def plain(name: str) -> str:
    """A name as a row has it."""
    return os.fsencode(name).decode("latin-1")


def row_of(target: str, number: int, token: str, before: bytes, after: bytes) -> Row:
    """The row of a file by its path without links."""
    folder, name = os.path.split(target)
    stem = os.fsdecode(os.fsencode(name)[:_STEM_BYTES])
    hidden = f".{stem}{MARK}{token}-{number}"
    digests = (hashlib.sha256(data).hexdigest() for data in (before, after))
    return Row(plain(folder), plain(name), plain(f"{hidden}-new"), plain(f"{hidden}-old"), *digests)


def fault_of(row: Row) -> str:
    """What no row of ours says, "" for one of ours."""
    names = (row.name, row.new, row.old)
    if any("/" in name or "\0" in name or name in ("", ".", "..") for name in names) or len(set(names)) < 3:
        return "a name is none"
    if not all(name.startswith(".") and MARK in name for name in (row.new, row.old)):
        return "a name that is not of linemate"
    if not row.folder.startswith("/") or "\0" in row.folder:
        return "a folder that is none"
    if any(ord(character) > 0xFF for character in row.folder + "".join(names)):
        return "a name that is no bytes"
    if any(len(digest) != 64 or not set(digest) <= set("0123456789abcdef") for digest in (row.before, row.after)):
        return "a digest is none"
    return ""


@dataclass(frozen=True, slots=True)
class EditedFile:
    """A row with its open folder."""

    row: Row
    folder: int

    def digest(self, name: str) -> str:
        """sha256 of what the name has, "" where that is not a regular file."""
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            handle = os.open(raw(name), flags, dir_fd=self.folder)
        except OSError:
            return ""
        total = hashlib.sha256()
        with open(handle, "rb", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return ""
            while block := file.read(_BLOCK_BYTES):
                total.update(block)
        return total.hexdigest()

    def exists(self, name: str) -> bool:
        try:
            os.stat(raw(name), dir_fd=self.folder, follow_symlinks=False)
        except OSError:
            return False
        return True

    def stage(self, after: bytes) -> None:
        """Put the new content and the old file beside the target; nothing changes yet.  Raises OSError."""
        target = os.stat(raw(self.row.name), dir_fd=self.folder, follow_symlinks=False)
        if not stat.S_ISREG(target.st_mode):
            raise LinemateError(f"{self.row.path}: no longer a regular file")
        if target.st_nlink > 1:
            raise LinemateError(
                f"{self.row.path}: has {target.st_nlink} names (hard links), and a new file would take one of them: "
                "give it a copy of its own"
            )
        self._create(self.row.new, after, target)
        try:
            names = (raw(self.row.name), raw(self.row.old))
            os.link(*names, src_dir_fd=self.folder, dst_dir_fd=self.folder, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            self._create(self.row.old, self._content(), target)  # a file system without links
        if self.digest(self.row.old) != self.row.before:
            raise LinemateError(f"{self.row.path}: changed meanwhile")

    def _create(self, name: str, data: bytes, like: os.stat_result) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(raw(name), flags, 0o600, dir_fd=self.folder)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
            made = os.fstat(handle)
            if (made.st_uid, made.st_gid) != (like.st_uid, like.st_gid):
                try:
                    os.fchown(handle, like.st_uid, like.st_gid)
                except PermissionError:
                    raise LinemateError(
                        f"{self.row.path}: is another user's or group's, and a new file would not be"
                    ) from None
            os.fchmod(handle, stat.S_IMODE(like.st_mode))
            self._copy_attributes(handle)
            os.fsync(handle)
        finally:
            os.close(handle)

    def _copy_attributes(self, handle: int) -> None:
        """Access lists and labels, as far as the file system lets us."""
        with contextlib.suppress(OSError):
            source = os.open(raw(self.row.name), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self.folder)
            try:
                for name in os.listxattr(source):
                    with contextlib.suppress(OSError):
                        os.setxattr(handle, name, os.getxattr(source, name))
            finally:
                os.close(source)

    def _content(self) -> bytes:
        handle = os.open(raw(self.row.name), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self.folder)
        with open(handle, "rb") as file:
            return file.read()

    def take(self, name: str) -> None:
        """The content under ``name`` becomes the file's."""
        os.rename(raw(name), raw(self.row.name), src_dir_fd=self.folder, dst_dir_fd=self.folder)

    def drop(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(raw(name), dir_fd=self.folder)

    def show(self, name: str, ending: str) -> str:
        """Give a content a name that people see, beside the file; that name, "" where there is nothing to show."""
        if not self.exists(name):
            return ""
        for number in range(100):
            shown = f"{raw(self.row.name)}{ending}{f'-{number}' if number else ''}"
            try:
                # Unlike a rename, a link never replaces a file.
                os.link(raw(name), shown, src_dir_fd=self.folder, dst_dir_fd=self.folder, follow_symlinks=False)
            except FileExistsError:
                continue
            except OSError:
                break
            self.drop(name)
            return shown
        return raw(name)


@contextmanager
def opened(rows: Iterable[Row]) -> Iterator[list[EditedFile | None]]:
    """The rows with their folders; None where a folder is gone, or a link now stands on the way to it."""
    handles: dict[str, int | None] = {}
    try:
        for row in rows:
            if row.folder not in handles:
                handles[row.folder] = _open_folder(raw(row.folder))
        edited_files = [(row, handles[row.folder]) for row in rows]
        yield [EditedFile(row, handle) if handle is not None else None for row, handle in edited_files]
    finally:
        for handle in handles.values():
            if handle is not None:
                os.close(handle)


def _open_folder(path: str) -> int | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    if os.path.realpath(path) == path and os.path.samestat(os.fstat(handle), os.stat(path)):
        return handle
    os.close(handle)
    return None


def settle(edited_files: Iterable[EditedFile]) -> None:
    """The names in all folders are on disk."""
    for handle in {edited.folder for edited in edited_files}:
        sync_folder(handle)


def sync_folder(handle: int) -> None:
    with contextlib.suppress(OSError):  # not every file system can
        os.fsync(handle)
