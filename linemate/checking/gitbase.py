"""The base revision as files: asking git what changed, and a cached copy of the tree as it was.

Owns every call of git.  The user's working tree, index, hooks and worktree list are never touched: the copy is checked
out with an index of its own into the cache, and git runs without optional locks.  Nothing that a repository's
configuration names is run (``gitborrowed``), unless the user trusts it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from linemate.checking.gitborrowed import borrowed, refuse_waiting_administration, refuse_waiting_files
from sharing.model.errors import LinemateError
from sharing.model.folders import make_below
from sharing.model.inputs import read_input
from sharing.model.process import children
from sharing.model.process.scratch import beside, remove, subfolder
from sharing.model.process.wholefile import write_whole

MAX_RECORD_BYTES = 64 << 20  # names of linked files
KEPT_TREES = 3  # per repository; a base is usually the branch point of what is being worked on
TIMEOUT_S = 600
LOOK_TIMEOUT_S = 60  # for new files: patterns of what is ignored may take git for ever to compare
QUESTION_TIMEOUT_S = 8  # for what reads a few small files; a FIFO among them would hold git for ever
RENAME_LIMIT = 2000
RENAME_THRESHOLD = "50%"  # git's own: half of the lines are the same

# A few hundred bytes of objects can stand for any number of files of any size.  The index of a million files takes
# 200 MB; no source of more than 256 MB is read.
_LIMITS = {resource.RLIMIT_DATA: 2 << 30, resource.RLIMIT_FSIZE: 1 << 30}

# What a partial clone lacks is fetched, by programs that the repository's configuration may name (git(1)).
_TRANSPORTS = "GIT_ALLOW_PROTOCOL"
_USUAL_TRANSPORTS = "file:git:http:https:ssh"

# From a hook, git passes these on; they would point our own calls at the wrong index or tree.
_INHERITED = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY")


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs between a revision and the working tree, as paths relative to the top.

    ``changed`` are the paths as they are now, added ones included; ``deleted`` and the values of ``renamed`` (new path
    to old) as they were.
    """

    changed: frozenset[str]
    deleted: frozenset[str]
    renamed: dict[str, str]


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository by the top of its working tree (links resolved) and its shared folder.

    Where it is ``trusted``, git runs with its configuration: filters, and fetching of what a partial clone lacks.
    """

    top: str
    common: str
    trusted: bool = False

    def resolve(self, revision: str) -> str:
        """The full id of a commit.  Raises LinemateError for what names none."""
        # A name that begins with a dash would be an option; git allows no such revision.
        if not revision or revision.startswith("-") or "\0" in revision:
            raise LinemateError(f"--base: '{revision}' is not a revision")
        question = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
        done = _git(self.top, question, self._fetching(), self._patience())
        found = done.stdout.decode("ascii", "replace").strip()
        if done.returncode != 0 or not found.isalnum():
            raise LinemateError(f"--base: git knows no commit '{revision}' (a shallow clone may lack it)")
        return found

    def changes(self, commit: str) -> Changes:
        """What of the working tree, committed or not, differs from ``commit``."""
        self._refuse_waiting_files()
        with self._own() as own:
            done = self._run(
                *("diff", "--name-status", "-z", f"--find-renames={RENAME_THRESHOLD}", f"-l{RENAME_LIMIT}"),
                *("--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--ignore-submodules=dirty"),
                *(commit, "--"),
                environment=own,
            )
        changed: set[str] = set()
        deleted: set[str] = set()
        renamed: dict[str, str] = {}
        fields = iter(os.fsdecode(done).split("\0"))
        for status in fields:
            if not status:
                break
            path = next(fields, "")
            if status[0] in "RC":
                new = next(fields, "")
                changed.add(new)
                if status[0] == "R":
                    renamed[new] = path
                    deleted.add(path)
            elif status[0] == "D":
                deleted.add(path)
            else:
                changed.add(path)
        return Changes(frozenset(changed), frozenset(deleted), renamed)

    def tracked(self) -> frozenset[str]:
        """Paths in the index, relative to the top."""
        with self._own() as own:
            listed = self._run("ls-files", "-z", environment=own)
        return frozenset(os.fsdecode(listed).split("\0")) - {""}

    def untracked(self, *, ignored: bool) -> list[str]:
        """Paths that git does not track, relative to the top: those that it ignores as well, or only the others."""
        self._refuse_waiting_files()
        choice = [] if ignored else ["--exclude-standard"]
        with self._own() as own:
            listed = self._run("ls-files", "--others", "-z", *choice, environment=own, timeout_s=LOOK_TIMEOUT_S)
        return [path for path in os.fsdecode(listed).split("\0") if path]

    def export(self, commit: str, folder: Path) -> None:
        """Write the files of ``commit`` below ``folder``, which exists and is empty."""
        with self._own() as own, subfolder("index") as scratch:
            own = {"GIT_DIR": self._git_dir()} | own
            own |= {"GIT_WORK_TREE": str(folder), "GIT_INDEX_FILE": str(scratch / "index")}
            self._run("read-tree", commit, environment=own)
            self._run(
                *("-c", "filter.lfs.smudge=", "-c", "filter.lfs.process=", "-c", "filter.lfs.required=false"),
                *("checkout-index", "--all", "--quiet"),
                environment=own,
            )

    @contextmanager
    def _own(self) -> Iterator[dict[str, str]]:
        """The environment for a copy of the index: ``git diff`` writes back what it learns about unchanged files.

        With it goes a git directory without the repository's configuration, unless that is trusted.
        """
        git_dir = self._git_dir()
        if not self.trusted:
            with borrowed(self.top, git_dir, self.common, self._ask) as own:
                yield own
            return
        index = os.path.join(git_dir, "index")
        with subfolder("index") as scratch:
            copy = str(scratch / "index")
            if os.path.exists(index):
                # With its time: by it git knows which files may have changed within the second of their entry.
                shutil.copy2(index, copy)
            yield self._fetching() | {"GIT_INDEX_FILE": copy}

    def _refuse_waiting_files(self) -> None:
        if not self.trusted:
            refuse_waiting_files(self.top)

    def _fetching(self) -> dict[str, str]:
        return {_TRANSPORTS: os.environ.get(_TRANSPORTS, _USUAL_TRANSPORTS)} if self.trusted else {}

    def _patience(self) -> int:
        return TIMEOUT_S if self.trusted else QUESTION_TIMEOUT_S  # fetching takes its time

    def _git_dir(self) -> str:
        return os.fsdecode(self._ask(["rev-parse", "--absolute-git-dir"])).rstrip("\n")

    def _ask(self, arguments: Sequence[str]) -> bytes:
        return self._checked(arguments, _git(self.top, arguments, self._fetching(), self._patience()))

    def _run(self, *arguments: str, environment: dict[str, str], timeout_s: int = TIMEOUT_S) -> bytes:
        return self._checked(arguments, _git(self.top, arguments, environment, timeout_s))

    def _checked(self, arguments: Sequence[str], done: subprocess.CompletedProcess[bytes]) -> bytes:
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            why = said[-1] if said else "failed without a message"
            if done.returncode == -signal.SIGXFSZ:
                why = f"a file of more than {_LIMITS[resource.RLIMIT_FSIZE]:,} bytes"
            if not self.trusted and any(Path(self.common, "objects", "pack").glob("*.promisor")):
                why += " (a partial clone: --trust-repository lets git fetch what it lacks)"
            raise LinemateError(f"--base: git {_verb(arguments)}: {why}")
        return done.stdout


def find_repository(folder: str, *, trusted: bool = False, wanted: bool = False) -> Repository | None:
    """The repository whose working tree holds ``folder``, None where there is none.

    Raises LinemateError where one is ``wanted`` and git refuses to read it, as that of another user (``safe.directory``
    of git-config).
    """
    if not trusted:
        refuse_waiting_administration(folder)
    done = _git(folder, ["rev-parse", "--show-toplevel", "--git-common-dir"], timeout_s=QUESTION_TIMEOUT_S)
    lines = os.fsdecode(done.stdout).split("\n")
    refused = re.search(rb"dubious ownership in repository at '([^\n]*)'", done.stderr)
    if wanted and refused is not None:
        path = os.fsdecode(refused[1])
        raise LinemateError(
            f"--base: git does not read the repository {path}, which belongs to another user; if you trust it: "
            "git config --global --add safe.directory, with that path"
        )
    if done.returncode != 0 or len(lines) < 2 or not lines[0]:
        return None
    return Repository(os.path.realpath(lines[0]), os.path.realpath(os.path.join(folder, lines[1])), trusted)


@contextmanager
def without_inherited() -> Iterator[None]:
    """The environment without what git passes on to hooks, for commands that work on another repository."""
    kept = {name: os.environ.pop(name) for name in _INHERITED if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)


def run_git(folder: str, arguments: Sequence[str], transports: str = "") -> subprocess.CompletedProcess[bytes]:
    """One call of git in the manner of this module, for others' questions; ``transports`` are what it may fetch by."""
    return _git(folder, arguments, {_TRANSPORTS: transports})


def _verb(arguments: Sequence[str]) -> str:
    return next((a for i, a in enumerate(arguments) if not a.startswith("-") and arguments[i - 1] != "-c"), "")


def _git(
    folder: str, arguments: Sequence[str], environment: dict[str, str] | None = None, timeout_s: int = TIMEOUT_S
) -> subprocess.CompletedProcess[bytes]:
    kept = {name: value for name, value in os.environ.items() if name not in _INHERITED}
    # No prompt, no pager, no language but git's own, and no write to the user's index to refresh it.
    kept |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "", "LC_ALL": "C", _TRANSPORTS: ""}
    kept |= environment or {}
    # A file system monitor is a program that the repository's configuration names.
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", *arguments]
    try:
        return children.run(command, cwd=folder, env=kept, timeout_s=timeout_s, limits=_LIMITS)
    except FileNotFoundError as error:
        raise LinemateError("--base needs git, which is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise LinemateError(f"--base: git {_verb(arguments)} took longer than {timeout_s} s") from error


@contextmanager
def base_tree(repository: Repository, commit: str, cache: Path | None) -> Iterator[Path]:
    """The files of ``commit`` in a folder that is ours until the end of the block; kept in ``cache`` if given.

    It may hold links that an earlier run added: see ``link_into``.
    """
    if cache is None:
        with subfolder("base") as scratch:
            tree = Path(os.path.realpath(scratch)) / "tree"
            tree.mkdir()
            repository.export(commit, tree)
            yield tree
        return
    name = hashlib.sha256(os.fsencode(repository.common)).hexdigest()[:16]
    home = Path(os.path.realpath(cache)) / name
    home.mkdir(parents=True, exist_ok=True)
    with _locked(home / f"{commit}.lock") as held:
        tree = home / commit
        if not tree.is_dir():
            with beside(tree) as making:
                making.mkdir(mode=0o700)
                repository.export(commit, making)
                making.rename(tree)
        os.utime(held)
        _prune(home, keep=commit)
        yield tree


@contextmanager
def _locked(path: Path) -> Iterator[Path]:
    """One run at a time; the lock goes with the process, however it ends."""
    with path.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield path


def _prune(home: Path, keep: str) -> None:
    """Drop the trees that were not used for longest, unless a run holds them."""
    locks = sorted(home.glob("*.lock"), key=lambda lock: lock.stat().st_mtime, reverse=True)
    for lock in locks[KEPT_TREES:]:
        if lock.stem == keep:
            continue
        with lock.open("a") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            remove(home / lock.stem)
            _links_of(home / lock.stem).unlink(missing_ok=True)
            lock.unlink(missing_ok=True)


def link_into(tree: Path, top: str, relative: Iterable[str]) -> None:
    """Show files of the working tree at the same place in ``tree`` where that has none.

    For what a build generates and git does not know: the base revision has no copy of its own.  Links of earlier runs
    are taken away first; nothing is ever written through a link out of ``tree``.
    """
    record = _links_of(tree)
    if record.is_file():
        for name in read_input(record, MAX_RECORD_BYTES).decode("utf-8", "surrogateescape").split("\0"):
            if name and (tree / name).is_symlink() and _stays_in(tree, tree / name):
                (tree / name).unlink()
    wanted = [name for name in relative if not os.path.lexists(tree / name) and _stays_in(tree, tree / name)]
    # First, so that a run that is killed leaves no link that nobody takes away.
    write_whole(record, "\0".join(wanted).encode("utf-8", "surrogateescape"))
    for name in wanted:
        link = tree / name
        if not _stays_in(tree, link):
            continue  # behind a link that was made just now
        # A file of the base may stand where a folder is now: the base never had it.
        with suppress(OSError):
            make_below(tree, link.parent)
            link.symlink_to(Path(top, name))


def _links_of(tree: Path) -> Path:
    """Where the links in a tree are written down: beside it."""
    return tree.with_name(f"{tree.name}.links")


def _stays_in(tree: Path, path: Path) -> bool:
    """Whether a path below ``tree`` is still below it with the links on the way resolved."""
    return Path(os.path.realpath(path.parent)).is_relative_to(tree)
