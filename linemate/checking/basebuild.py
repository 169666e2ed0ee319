"""The base revision's program as it was linked, and why a change of source brought two variables together in it.

Owns the choice of what is built and where it is kept; building a revision is ``linemate.history.builds``'s, what
moved ``linemate.explain``'s.
"""

from __future__ import annotations

import os
import re
from contextlib import closing
from pathlib import Path

from linemate.cachedir import builds_folder
from linemate.checking.gitbase import Repository, without_inherited
from linemate.history.builds import Builds
from linemate.history.clone import commits_of
from linemate.history.store import Store
from sharing.model.comparison import CauseKind
from sharing.model.comparison import Comparison as ComparedBuilds
from sharing.model.errors import LinemateError
from sharing.model.project import ProjectConfig

TIMEOUT_S = 3600.0  # as for each build of a history
_LOG_LINES = 3
_ERROR = re.compile(r"\berror\b|\*\*\*", re.IGNORECASE)  # make's are "***"


def base_binary(repository: Repository, commit: str, command: str, binary: str) -> Path:
    """The program that ``command`` makes of ``commit``, in a checkout in the cache; built once for each tree.

    ``binary`` is the working tree's.  Raises LinemateError where the build fails, with the first error that it named.
    """
    below = os.path.relpath(os.path.realpath(binary), repository.top)
    if below.startswith(".."):
        raise LinemateError(f"--binary {binary}: not below {repository.top}: --build cannot make it of the base")
    home = builds_folder("check")
    with without_inherited(), closing(Store(str(home / "builds.sqlite"))) as store:
        builds = Builds(store, repository.top, repository.common, command, (below,), TIMEOUT_S, keep_trees=False)
        (found,) = commits_of(repository.top, f"{commit}..{commit}")
        builds.forget_failures([found])
        built = builds.get(found)
        if built.binary is None:
            said = "".join(f"; {line.strip()}" for line in _cause(built.row.log))
            raise LinemateError(f"--build of {found.name}: {built.row.why}{said}")
        binary_of_base = builds.ready(built, tree=False).binary
        assert binary_of_base is not None  # a build that fails now is an error
        return binary_of_base


def _cause(log: str) -> list[str]:
    """The first lines from where an error is named, as what follows from it comes last; else the end."""
    lines = [line for line in log.splitlines() if line.strip()]
    first = next((at for at, line in enumerate(lines) if _ERROR.search(line)), None)
    return lines[-_LOG_LINES:] if first is None else lines[first : first + _LOG_LINES]


def what_moved(old: Path, new: str, project: ProjectConfig, line_size: int | None) -> ComparedBuilds | None:
    """What the change did to the layout of the linked program; None where that is not known."""
    from linemate.explaining.run import ExplainRequest, explain

    try:
        return explain(ExplainRequest(str(old), new, line_size=line_size, project=project))
    except LinemateError:
        return None


def in_one_sentence(found: ComparedBuilds) -> tuple[str, ...]:
    """The worst of what moved as a note, nothing where nothing did."""
    return tuple(f"since the base: {c.summary}" for c in found.causes[:1] if c.kind is CauseKind.LAYOUT)
