"""Paths of sources as findings are known by: the same in every checkout, wherever it lies and whatever its folder is.

Owns the shortening of paths.  Paths that are shown or opened stay as they are.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from functools import lru_cache

from sharing.model.image import Unit

# Where systems keep headers and sources of libraries; Rust's own are named by the commit that they were built of.
_SYSTEM = ("/usr/include/", "/usr/lib/", "/usr/lib64/", "/usr/local/include/", "/rustc/")
_KEPT = 2  # components: enough to tell statics of one name apart


def of_system(path: str) -> bool:
    """Is it a file of a library that the system brings, which no user of it edits?"""
    return path.startswith(_SYSTEM)


def in_project(path: str, unit: int, units: Sequence[Unit]) -> str:
    """The last components of a path below the folder in which its unit was compiled; ``unit`` -1: not known which."""
    if not posixpath.isabs(path):
        return shortened(path, ())
    if 0 <= unit < len(units):
        return shortened(path, (units[unit].comp_dir,))
    return shortened(path, tuple(dict.fromkeys(u.comp_dir for u in units)))


@lru_cache(4096)
def shortened(path: str, folders: tuple[str, ...]) -> str:
    """The last components of the path, seen from the folder it is nearest to.

    A build folder in the tree is as good as the tree: what is left of ``../main.cc`` is ``main.cc``.
    """
    seen = [posixpath.relpath(path, folder) for folder in folders if posixpath.isabs(folder) and posixpath.isabs(path)]
    below = min((_below(one) for one in seen or [posixpath.normpath(path)]), key=lambda parts: (len(parts), parts))
    return "/".join(below[-_KEPT:])


def _below(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".", "..")]
