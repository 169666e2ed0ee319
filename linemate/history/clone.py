"""The revisions of a range, and a checkout of each, from a clone of our own.

Owns what ``history`` asks of git.  The user's repository is only read: checkouts are worktrees of a clone in the cache
that borrows its objects, so that builds which ask git for a version get an answer.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from linemate.checking.gitbase import find_repository, run_git
from sharing.model.errors import LinemateError
from sharing.model.process.scratch import beside, remove

MAX_COMMITS = 20_000
# Large files behind pointers are not fetched.
_NO_LFS = ("-c", "filter.lfs.smudge=", "-c", "filter.lfs.process=", "-c", "filter.lfs.required=false")


@dataclass(frozen=True, slots=True)
class Commit:
    """``tree`` identifies the files: equal trees are equal sources."""

    id: str
    tree: str
    name: str
    subject: str
    author: str


def commits_of(top: str, revisions: str) -> list[Commit]:
    """The commits of ``A..B``, A included, oldest first, along first parents.

    Raises LinemateError for what is no range, and where A is not an ancestor of B.
    """
    first, dots, last = revisions.partition("..")
    if not dots or last.startswith(".") or not first or not last:
        raise LinemateError(f"'{revisions}' is not a range: give OLD..NEW")
    old, new = _resolve(top, first), _resolve(top, last)
    if git(top, "merge-base", "--is-ancestor", old, new, check=False)[0] != 0:
        raise LinemateError(f"{first} is not an ancestor of {last}{_if_shallow(top)}")
    limit = f"--max-count={MAX_COMMITS + 1}"
    form = "--format=%H%x00%T%x00%h%x00%s%x00%an%x00"
    _, text = git(top, "log", "--first-parent", "--no-show-signature", limit, form, f"{old}..{new}", "--")
    found = _parsed(text)
    if len(found) > MAX_COMMITS:
        raise LinemateError(f"{revisions} has more than {MAX_COMMITS:,} revisions")
    _, text = git(top, "log", "--no-show-signature", "--max-count=1", form, old, "--")
    return [*_parsed(text), *reversed(found)]


def _parsed(text: str) -> list[Commit]:
    fields = text.split("\0")
    return [
        Commit(fields[i].strip(), fields[i + 1], fields[i + 2], fields[i + 3][:200], fields[i + 4][:80])
        for i in range(0, len(fields) - 5, 5)
    ]


def top_of(folder: str) -> tuple[str, str]:
    """(top of the working tree, its shared folder) of the repository around a folder."""
    if not os.path.isdir(folder):
        raise LinemateError(f"{folder}: no such folder")
    found = find_repository(folder)
    if found is None:
        raise LinemateError(f"{folder}: no git repository")
    return found.top, found.common


class Clone:
    """A clone without files of its own, below ``home``; each checkout is a worktree of it."""

    def __init__(self, top: str, home: Path) -> None:
        self.path = home / "clone"
        if not (self.path / ".git").is_dir():
            with beside(self.path) as making:
                borrow = ("clone", "--quiet", "--shared", "--no-checkout", "--", top, str(making))
                git(str(home), *borrow, transports="file")
                making.rename(self.path)
        else:
            self._unlock()
            # For what describes a build by its tags; the objects are shared already.
            git(str(self.path), "fetch", "--quiet", "--tags", "--force", "origin", check=False, transports="file")

    def checkout(self, commit: str, folder: Path) -> None:
        """The files of a commit in a new folder, or an empty one."""
        git(str(self.path), *_NO_LFS, "worktree", "add", "--quiet", "--force", "--detach", str(folder), commit)

    def _unlock(self) -> None:
        """Take away the lock files of a git that was killed: whoever may call git here has the clone to themselves."""
        git_dir = self.path / ".git"
        for lock in (*git_dir.glob("*.lock"), *git_dir.glob("refs/**/*.lock")):
            lock.unlink(missing_ok=True)

    def drop(self, folder: Path) -> None:
        remove(folder)
        git(str(self.path), "worktree", "prune", check=False)


def _resolve(top: str, revision: str) -> str:
    if revision.startswith("-") or "\0" in revision:
        raise LinemateError(f"'{revision}' is not a revision")
    code, text = git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", check=False)
    if code != 0 or not text.strip().isalnum():
        raise LinemateError(f"git knows no commit '{revision}'{_if_shallow(top)}")
    return text.strip()


def _if_shallow(top: str) -> str:
    """What a message adds where revisions may be missing."""
    shallow = git(top, "rev-parse", "--is-shallow-repository", check=False)[1].strip() == "true"
    return ": this clone is shallow, git fetch --unshallow gets the rest" if shallow else ""


def git(folder: str, *arguments: str, check: bool = True, transports: str = "") -> tuple[int, str]:
    """(exit code, output).  Raises LinemateError with git's own words where it fails, unless ``check`` is False."""
    done = run_git(folder, arguments, transports)
    if check and done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise LinemateError(f"git: {said[-1] if said else 'failed without a message'}")
    return done.returncode, done.stdout.decode("utf-8", "replace")
