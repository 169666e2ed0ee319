"""A git directory of our own that borrows the objects and the index of a repository, and none of its configuration.

A repository's configuration names programs: filters that git runs over each file that may have changed, monitors,
transports that fetch what is missing.  Whoever made the repository wrote it.  Owns the folder that stands in for it:
which settings are taken over (those that only say how files compare), and what is refused since git would wait for it.
Knows no question that is asked of git.
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from sharing.model.errors import LinemateError
from sharing.model.folders import walk
from sharing.model.inputs import NotReadable, open_input, read_input
from sharing.model.process.scratch import subfolder

# How the bytes of a file and those in the repository compare; git-config(1).  None of these names a program or a file.
_BOOLEANS = (
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.protecthfs",
    "core.protectntfs",
    "core.symlinks",
    "core.trustctime",
)
_WORDS = {
    "core.autocrlf": ("true", "false", "input"),
    "core.checkstat": ("default", "minimal"),
    "core.eol": ("lf", "crlf", "native"),
    "extensions.objectformat": ("sha1", "sha256"),
}
_FILES = ("core.attributesfile", "core.excludesfile")
_TRUTHS = {"true": "true", "yes": "true", "on": "true", "1": "true", "": "true"} | dict.fromkeys(
    ("false", "no", "off", "0"), "false"
)
# What git opens by name in every folder, and would wait for if it is a FIFO.
_READ_IN_FOLDERS = (".gitattributes", ".gitignore")
LOOK_S = 8.0  # for what git keeps: a link there may lead anywhere
_OBJECT_FOLDER = re.compile("[0-9a-f]{2}|pack|info")
_MAX_PATH_BYTES = 1 << 14
_MAX_ALTERNATES_BYTES = 1 << 20
_MAX_COPIED_BYTES = 1 << 30

# Asks git, in the repository's own name: arguments to output.
Ask = Callable[[Sequence[str]], bytes]


@contextmanager
def borrowed(top: str, git_dir: str, common: str, ask: Ask) -> Iterator[dict[str, str]]:
    """The environment in which git sees the repository without its configuration, and a copy of its index.

    ``top`` is the working tree, ``git_dir`` its administration (of its own for a linked worktree), ``common`` where the
    objects are.  Nothing of the three is written to.  Raises LinemateError for files that git would wait for.
    """
    with subfolder("git") as own:
        for name in ("refs", "info", "objects/info"):
            (own / name).mkdir(parents=True)
        (own / "HEAD").write_text("ref: refs/heads/none\n")
        (own / "objects/info/alternates").write_bytes(_quoted(os.path.join(common, "objects")) + b"\n")
        (own / "config").write_bytes(_config(_settings(ask)))
        for name in ("exclude", "attributes"):
            _copy(Path(common, "info", name), own / "info" / name)
        _copy(Path(git_dir, "index"), own / "index")
        # The greater part of a split index stands beside it (gitformat-index(5)).
        for shared in Path(git_dir).glob("sharedindex.*"):
            _copy(shared, own / shared.name)
        yield {
            "GIT_DIR": str(own),
            "GIT_WORK_TREE": top,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
        }


def refuse_waiting_files(top: str) -> None:
    """Raise LinemateError where a file that git reads of its own accord is neither a file nor a link.

    Git looks into the repositories that are below as well: what a submodule is at, and whether a folder is one.
    """
    for folder, folders, files in walk(top):
        if ".git" in folders:
            folders.remove(".git")
            if folder != top:
                refuse_waiting_administration(folder)
        elif ".git" in files and folder != top:
            refuse_waiting_administration(folder)
        for name in _READ_IN_FOLDERS:
            if name in files:
                path = os.path.join(folder, name)
                mode = os.lstat(path).st_mode
                # git opens these without following links.
                if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
                    raise LinemateError(f"--base: {path}: not a regular file")


def refuse_waiting_administration(folder: str) -> None:
    """Raise LinemateError where a file that git keeps for itself is a pipe or a device: before git is first asked."""
    until = time.monotonic() + LOOK_S
    waiting = [(top, False) for top in _administrations(folder)]
    seen: set[str] = set()
    while waiting:
        top, holds_objects = waiting.pop()
        root = os.path.realpath(top)
        for where, folders, files in walk(root):
            if where in seen:
                folders.clear()
                continue
            seen.add(where)
            if time.monotonic() > until:
                raise LinemateError(f"--base: {root}: more files than can be looked through in {LOOK_S} s")
            if holds_objects and where == root:
                folders[:] = [name for name in folders if _OBJECT_FOLDER.fullmatch(name)]
                files.clear()
            for name in files:
                path = os.path.join(where, name)
                if _holds_git(path):
                    raise LinemateError(f"--base: {path}: not a regular file")
                if name == "alternates" and os.path.basename(where) == "info":
                    waiting += [(other, True) for other in _alternates(path)]
            waiting += [(path, False) for name in folders if os.path.islink(path := os.path.join(where, name))]


def _alternates(file: str) -> Iterator[str]:
    """The folders of objects that a repository borrows (gitrepository-layout(5))."""
    objects = os.path.dirname(os.path.dirname(file))
    for line in read_input(file, _MAX_ALTERNATES_BYTES, "a file of git").splitlines():
        if line.startswith(b'"'):
            with suppress(ValueError):
                line = codecs.escape_decode(line[1:].removesuffix(b'"'))[0]
        if line and not line.startswith(b"#") and b"\0" not in line:
            yield os.path.join(objects, os.fsdecode(line))


def _administrations(folder: str) -> Iterator[str]:
    """The folders in which git keeps what it knows of the repository around ``folder``, as git finds them."""
    for parent in (Path(folder).absolute(), *Path(folder).absolute().parents):
        found = parent / ".git"
        if found.is_dir():
            yield str(found)
            return
        if os.path.lexists(found):
            # Of a linked worktree or a submodule (gitrepository-layout(5)).
            named = os.path.join(parent, _named(found, "gitdir: "))
            yield named
            if os.path.lexists(common := Path(named, "commondir")):
                yield os.path.join(named, _named(common, ""))
            return


def _named(file: Path, before: str) -> str:
    """The path in a small file."""
    text = os.fsdecode(read_input(file, _MAX_PATH_BYTES, "a file of git"))
    return text.removeprefix(before).rstrip("\n").replace("\0", "")


def _holds_git(path: str) -> bool:
    """Whether opening it waits, or reading it never ends."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or (stat.S_ISCHR(mode) and not os.path.samefile(path, os.devnull))


def _settings(ask: Ask) -> dict[str, str]:
    """The settings that are taken over, by name; the last value counts, as for git."""
    found: dict[str, str] = {}
    for row in os.fsdecode(ask(["config", "--null", "--list"])).split("\0"):
        name, _, value = row.partition("\n")
        name = name.lower()
        if name in _BOOLEANS and value.lower() in _TRUTHS:
            found[name] = _TRUTHS[value.lower()]
        elif value.lower() in _WORDS.get(name, ()):
            found[name] = value.lower()
        elif name in _FILES:
            path = os.path.expanduser(value)
            if os.path.isabs(path) and os.path.isfile(path) and not _is_the_kernels(path):
                found[name] = path
            else:
                found.pop(name, None)
    return found


def _is_the_kernels(path: str) -> bool:
    """What the kernel makes up when it is read may never end: /proc/kmsg waits for the next message."""
    return os.path.realpath(path).startswith(("/proc/", "/sys/", "/dev/"))


def _config(settings: Mapping[str, str]) -> bytes:
    version = 1 if "extensions.objectformat" in settings else 0
    rows = [f"[core]\nrepositoryformatversion = {version}\nbare = false\n"]
    for name, value in settings.items():
        section, _, key = name.partition(".")
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        rows.append(f'[{section}]\n{key} = "{escaped}"\n')
    return os.fsencode("".join(rows))


def _quoted(path: str) -> bytes:
    """A line of objects/info/alternates: as it is, or quoted like a C string (gitrepository-layout(5))."""
    raw = os.fsencode(path)
    if all(byte >= 0x20 and byte not in b'"\\' for byte in raw) and not raw.startswith(b"#"):
        return raw
    return b'"' + b"".join(b"\\%03o" % byte if byte < 0x20 or byte in b'"\\' else bytes([byte]) for byte in raw) + b'"'


def _copy(source: Path, target: Path) -> None:
    """Copy a regular file with its time, by which git knows which files may have changed since."""
    try:
        with open_input(source) as stream:
            status = os.fstat(stream.fileno())
            if status.st_size > _MAX_COPIED_BYTES:
                raise LinemateError(f"--base: {source}: larger than {_MAX_COPIED_BYTES:,} bytes")
            with target.open("wb") as out:
                shutil.copyfileobj(stream, out)
    except NotReadable as error:
        if error.errno == errno.ENOENT:
            return
        raise LinemateError(f"--base: {error}") from error
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
