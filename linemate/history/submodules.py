"""Submodules in the checkout of a revision, as the user's repository holds them.

Owns where git keeps them (gitmodules(5), gitrepository-layout(5)).  Nothing is fetched: a commit that is not there is
named, and left to the build.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path, PurePath

from linemate.history.clone import Clone, git

MAX_DEPTH = 8  # of submodules in submodules
_LINK = "160000"  # mode of a submodule in a tree


@dataclass(frozen=True, slots=True)
class Submodule:
    """At ``path`` below the top; ``name`` is that of its folder in ``.git/modules``."""

    path: str
    name: str
    commit: str


class Submodules:
    """Clones of the user's submodules below ``home``, each made when a revision needs it."""

    def __init__(self, common: str, home: Path) -> None:
        self._common, self._home = Path(common), home / "submodules"
        self._clones: dict[Path, Clone] = {}

    def check_out(self, clone: Clone, commit: str, tree: Path) -> list[str]:
        """Fill the submodules of a revision in its checkout.  What is not at hand, in words."""
        return self._fill(clone, commit, tree, self._common, 0)

    def _fill(self, clone: Clone, commit: str, tree: Path, common: Path, depth: int) -> list[str]:
        missing = []
        for one in submodules_of(clone.path, commit):
            place = tree / one.path
            if not place.resolve().is_relative_to(tree.resolve()) or not place.is_dir():
                continue
            repository = common / "modules" / one.name
            own = self._clone(repository)
            if own is None or git(str(own.path), "cat-file", "-e", f"{one.commit}^{{commit}}", check=False)[0] != 0:
                missing.append(f"{one.path} at {one.commit[:12]}")
                continue
            own.checkout(one.commit, place)
            if depth < MAX_DEPTH:
                below = self._fill(own, one.commit, place, repository, depth + 1)
                missing += [str(PurePath(one.path, text)) for text in below]
        return missing

    def _clone(self, repository: Path) -> Clone | None:
        if repository not in self._clones:
            if not (repository / "objects").is_dir():
                return None
            home = self._home / hashlib.sha256(os.fsencode(repository)).hexdigest()[:16]
            home.mkdir(parents=True, exist_ok=True)
            self._clones[repository] = Clone(str(repository), home)
        return self._clones[repository]


def submodules_of(repository: Path, commit: str) -> list[Submodule]:
    """The submodules of a commit that .gitmodules names."""
    _, listed = git(str(repository), "ls-tree", "-r", "-z", "--full-tree", commit)
    links = {}
    for entry in listed.split("\0"):
        mode, _, rest = entry.partition(" ")
        if mode == _LINK:
            what, _, path = rest.partition("\t")
            links[path] = what.split()[-1]
    if not links:
        return []
    asked = ("config", "--blob", f"{commit}:.gitmodules", "--null", "--get-regexp", r"^submodule\..*\.path$")
    _, told = git(str(repository), *asked, check=False)
    out = []
    for item in told.split("\0"):
        key, _, path = item.partition("\n")
        name = key.removeprefix("submodule.").removesuffix(".path")
        if path in links and name and ".." not in PurePath(name).parts and not PurePath(name).is_absolute():
            out.append(Submodule(path, name, links[path]))
    return out
