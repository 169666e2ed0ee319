"""One build for each revision: made once, kept by what went into it, resumed after any interruption.

Owns the folder of builds in the cache, its bound, and the key of a build.  A build is in the store when it is whole;
what an interrupted run left behind is never used again and is removed by the next run.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from linemate.cachedir import builds_folder
from linemate.fixing.child import run
from linemate.history.clone import Clone, Commit
from linemate.history.store import BuildRow, Store
from linemate.history.submodules import Submodules
from sharing.model.errors import LinemateError
from sharing.model.folders import walk
from sharing.model.inputs import open_input, read_input
from sharing.model.process import children
from sharing.model.process.scratch import beside
from sharing.model.process.wholefile import write_whole

LOG_TAIL = 64 << 10  # characters of the log that go into the store; the file has all that was kept
MAX_NOTE_BYTES = 4096
MAX_BINARY_BYTES = 8 << 30
MOST_KEPT_BYTES = 20 << 30  # of trees and binaries of one repository; above that, what was not used for long goes
IN_USE_S = 24 * 3600.0  # after its last use, a build may be another run's, which then measures it
_FLAGS = ("CC", "CXX", "CPPFLAGS", "CFLAGS", "CXXFLAGS", "LDFLAGS")
_TOOLS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "ld")
_COMPILER_WORD = re.compile(
    r"(?<![\w/.+-])[\w/.+-]*(?:gcc|g\+\+|clang(?:\+\+)?|\bcc|c\+\+|icx|icpx)(?:-\d+)?(?![\w/.+-])"
)
_KEY_LENGTH = 16  # all trees have paths of one length, so that paths in the binaries do not move anything


@dataclass(frozen=True, slots=True)
class Built:
    """One revision's build.  ``binary`` is our copy, None where it failed; ``tree`` where it was made, if kept.

    The files of an old build may be gone: see ``Builds.ready``.
    """

    commit: Commit
    row: BuildRow
    binary: Path | None
    tree: Path | None
    fresh: bool


class Builds:
    """Builds of one repository by one command: of the first of ``binaries``; others are kept for a run of theirs."""

    def __init__(
        self,
        store: Store,
        top: str,
        common: str,
        command: str,
        binaries: tuple[str, ...],
        timeout_s: float,
        *,
        keep_trees: bool,
    ) -> None:
        for binary in binaries:
            if os.path.isabs(binary) or ".." in Path(binary).parts or not Path(binary).name:
                raise LinemateError(
                    f"--binary {binary}: give a path below the top of the repository; a build elsewhere copies it there"
                )
        binary, *self._others = binaries
        self.store, self.command, self.binary, self.timeout_s = store, command, binary, timeout_s
        self.keep_trees = keep_trees
        self.home = builds_folder("history") / hashlib.sha256(os.fsencode(common)).hexdigest()[:16]
        for name in ("trees", "binaries", "logs", "locks"):
            (self.home / name).mkdir(parents=True, exist_ok=True)
        self.compiler = compiler_id(command)
        with self._locked("clone"):
            self._clone = Clone(top, self.home)
            self._submodules = Submodules(common, self.home)
            self._forget_unused()
            self._remove_abandoned()

    def key(self, commit: Commit, binary: str = "") -> str:
        """What a build is known by; ``binary`` is another one that it makes."""
        parts = (commit.tree, self.command, binary or self.binary, self.compiler)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()

    def known(self, commit: Commit) -> bool:
        """Whether the revision needs no build now."""
        return self.store.build(self.key(commit)) is not None

    def forget_failures(self, commits: list[Commit]) -> None:
        """Failed builds are tried again; the others stay."""
        for commit in commits:
            row = self.store.build(self.key(commit))
            if row is not None and row.failed:
                self.store.forget_build(row.key)

    def get(self, commit: Commit) -> Built:
        """The build of a revision, made unless it is known.  A build that fails is a result, too."""
        key = self.key(commit)
        with self._locked(key[:_KEY_LENGTH]):
            row = self.store.build(key)
            if row is not None:
                return self._built(commit, row, fresh=False)
            return self._built(commit, self._make(commit, key), fresh=True)

    def ready(self, built: Built, *, tree: bool) -> Built:
        """The build with its binary (and its tree) on disk: made again where the cache lost them.

        Raises LinemateError where it fails this time.
        """
        key = built.row.key
        with self._locked(key[:_KEY_LENGTH]):
            there = self._built(built.commit, self.store.build(key) or built.row, fresh=False)
            if self._usable(there.row, tree=tree):
                for used in (self._binary_of(there.row.digest), *([self._note_of(key)] if tree else [])):
                    os.utime(used)
                return there
            made = self._built(built.commit, self._make(built.commit, key), fresh=True)
        if made.binary is None:
            raise LinemateError(f"{built.commit.name}: built before, and now {made.row.why}")
        return made

    def _built(self, commit: Commit, row: BuildRow, *, fresh: bool) -> Built:
        tree = self._tree_of(row.key)
        return Built(commit, row, None if row.failed else self._binary_of(row.digest), tree, fresh)

    def _usable(self, row: BuildRow, *, tree: bool) -> bool:
        there = re.fullmatch(r"[0-9a-f]{64}", row.digest) is not None and self._binary_of(row.digest).is_file()
        return there and (not tree or self._tree_of(row.key) is not None)

    def _binary_of(self, digest: str, binary: str = "") -> Path:
        return self.home / "binaries" / digest[:_KEY_LENGTH] / Path(binary or self.binary).name

    def _tree_of(self, key: str) -> Path | None:
        """The tree that belongs to a whole build: its name is written down when the build is done."""
        name, _ = _noted(self._note_of(key))
        tree = self.home / "trees" / name
        return tree if re.fullmatch(r"[0-9a-f]{16}-[0-9a-f]{8}", name) and tree.is_dir() else None

    def _note_of(self, key: str) -> Path:
        return self.home / "trees" / f"{key[:_KEY_LENGTH]}.tree"

    def _make(self, commit: Commit, key: str) -> BuildRow:
        name = f"{key[:_KEY_LENGTH]}-{secrets.token_hex(4)}"
        tree = self.home / "trees" / name
        keep = False
        try:
            with self._locked("clone"):
                self._clone.checkout(commit.id, tree)
                absent = self._submodules.check_out(self._clone, commit.id, tree)
            log, why = self._run(tree, key)
            if why and absent:
                why += (
                    f"; submodules that the repository does not hold: {', '.join(absent)} (git submodule update --init)"
                )
            ended = why
            digest, why = ("", why) if why else self._take(tree, self.binary)
            row = BuildRow(
                key, commit.tree, self.command, self.binary, self.compiler, bool(why), why, log[-LOG_TAIL:], digest
            )
            if self.keep_trees and not why:
                _write(self._note_of(key), f"{name} {_size_bytes(tree)}")
                keep = True
            self.store.put_build(row)
            for other in self._others:
                found, missing = ("", ended) if ended else self._take(tree, other)
                key = self.key(commit, other)
                self.store.put_build(
                    replace(row, key=key, binary=other, failed=bool(missing), why=missing, digest=found)
                )
            return row
        finally:
            if not keep:
                with self._locked("clone"):
                    self._clone.drop(tree)

    def _run(self, tree: Path, key: str) -> tuple[str, str]:
        """(what the build said, why it failed or "")."""
        try:
            done = run(self.command, tree, self.timeout_s)
            log, why = done.output, "" if done.code == 0 else f"the build ended with {done.code}"
        except LinemateError as error:
            log, why = "", str(error)
        _write(self.log_path(key), log)
        return log, why

    def log_path(self, key: str) -> Path:
        return self.home / "logs" / f"{key[:_KEY_LENGTH]}.log"

    def bench_log_path(self, key: str) -> Path:
        """What the run of the benchmark said that gave no figure."""
        return self.home / "logs" / f"{key[:_KEY_LENGTH]}.bench.log"

    def put_bench_log(self, key: str, text: str) -> None:
        _write(self.bench_log_path(key), text)

    def _take(self, tree: Path, binary: str) -> tuple[str, str]:
        """Copy a binary by its content: (its digest, why there is none)."""
        made = tree / binary
        if not made.is_file():
            return "", f"the build made no {binary}"
        if not made.resolve().is_relative_to(self.home.resolve()):
            return "", f"{binary} leads out of the copy that was built: let --build copy {made.resolve()} there"
        if made.stat().st_size > MAX_BINARY_BYTES:
            raise LinemateError(f"{made}: larger than {MAX_BINARY_BYTES >> 30} GB")
        with open_input(made, "a binary") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        kept = self._binary_of(digest, binary)
        if not kept.is_file():
            kept.parent.mkdir(exist_ok=True)
            with beside(kept) as making:
                shutil.copy2(made, making)
                making.rename(kept)
        os.utime(kept)  # used now, whenever it was made
        return digest, ""

    def _remove_abandoned(self) -> None:
        """Trees that no whole build names and no run holds."""
        trees = self.home / "trees"
        named = {_noted(note)[0] for note in trees.glob("*.tree")}
        for tree in trees.iterdir():
            if not tree.is_dir() or tree.name in named:
                continue
            with (self.home / "locks" / tree.name[:_KEY_LENGTH]).open("a") as handle:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                self._clone.drop(tree)

    def _forget_unused(self) -> None:
        """What was used last keeps its place within the bound; of the rest, what nobody used for a day goes."""
        kept = [(note.stat().st_mtime, _noted(note)[1], note) for note in (self.home / "trees").glob("*.tree")]
        files = (file for file in (self.home / "binaries").glob("*/*") if file.is_file())
        kept += [(file.stat().st_mtime, file.stat().st_size, file) for file in files]
        total, oldest = 0, time.time() - IN_USE_S
        for used, size, path in sorted(kept, reverse=True):
            total += size
            if total > MOST_KEPT_BYTES and used < oldest:
                path.unlink(missing_ok=True)  # of a note: its tree is one that no whole build names, then

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        """One run at a time; the lock goes with the process, however it ends."""
        with (self.home / "locks" / name).open("a") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield


def _noted(note: Path) -> tuple[str, int]:
    """(name of a whole build's tree, its bytes), ("", 0) where the note is gone or broken."""
    try:
        name, _, size = read_input(note, MAX_NOTE_BYTES).decode("ascii").partition(" ")
        return name.strip(), int(size or 0)
    except (LinemateError, ValueError):
        return "", 0


def _size_bytes(tree: Path) -> int:
    """What the files of a tree take on disk."""
    total = 0
    for folder, _, names in walk(tree):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512
    return total


def _write(path: Path, text: str) -> None:
    write_whole(path, text.encode("utf-8", "backslashreplace"))


def compiler_id(command: str) -> str:
    """What compiles here, in words: versions of the compilers in reach, those that the command names, and flags."""
    named = [word for name in ("CC", "CXX") for word in os.environ.get(name, "").split()[:1]]
    tools = dict.fromkeys([*named, *_COMPILER_WORD.findall(command)[:8], *_TOOLS])
    seen: dict[str, str] = {}
    for tool in tools:
        path = shutil.which(tool)
        if path is not None and (real := os.path.realpath(path)) not in seen:
            seen[real] = _version(real)
    flags = [f"{name}={os.environ[name]}" for name in _FLAGS if os.environ.get(name)]
    return "\n".join([*(f"{os.path.basename(path)}: {text}" for path, text in seen.items()), *flags])


def _version(tool: str) -> str:
    try:
        done = children.run([tool, "--version"], timeout_s=20, env={**os.environ, "LC_ALL": "C"})
    except (OSError, subprocess.TimeoutExpired):
        return "?"
    return done.stdout.decode("utf-8", "replace").split("\n", 1)[0][:200]
