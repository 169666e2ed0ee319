"""What a series of revisions and a bisection put into the document alike.

Owns the rows of revisions, the layouts of builds and what differs around a step; which revisions are asked is ``run``'s
and ``bisect``'s matter, a table of measurements ``table``'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec

from linemate.history.buildlayouts import Layouts, Reason, left_open, sentences
from linemate.history.builds import Builds, Built
from linemate.history.clone import Commit
from linemate.history.options import HistoryOptions
from linemate.history.store import DamagedStore
from linemate.history.table import document
from sharing.history.busy import Layout
from sharing.history.judge import Judged
from sharing.history.series import Series
from sharing.model.errors import LinemateError
from sharing.model.history import Basis, History, Revision, RevisionState, Step


def read_layouts(made: dict[int, Built], layouts: Layouts) -> tuple[dict[int, Layout], dict[int, str]]:
    """(layouts by revision, why others could not be read)."""
    found: dict[int, Layout] = {}
    by_digest: dict[str, Layout] = {}
    unread: dict[int, str] = {}
    for at, built in made.items():
        if built.binary is None:
            continue
        digest = built.row.digest
        try:
            if digest not in by_digest:
                by_digest[digest] = layouts.of(built)
            found[at] = by_digest[digest]
        except DamagedStore:
            raise
        except LinemateError as error:
            unread[at] = str(error)
    return found, unread


def explained(steps: Sequence[Step], made: dict[int, Built], layouts: Layouts) -> tuple[Step, ...]:
    """Steps with what differs between the builds around them."""
    out = []
    for step in steps:
        old, new = (made.get(at) for at in step.between)
        reasons: tuple[Reason, ...] = ()
        if old is not None and new is not None and old.binary is not None and new.binary is not None:
            reasons = layouts.reasons(old, new)
        out.append(msgspec.structs.replace(step, causes=sentences(reasons), not_ruled_out=left_open(reasons)))
    return tuple(out)


def revisions_of(
    commits: Sequence[Commit],
    made: dict[int, Built],
    builds: Builds,
    failed: Mapping[int, str],
    logs: Mapping[int, str] = MappingProxyType({}),
) -> tuple[Revision, ...]:
    """All revisions of the range with what became of them: why some are left out, and what their benchmark said."""
    out = []
    for at, commit in enumerate(commits):
        built = made.get(at)
        if built is None:
            state, why, log = RevisionState.UNTRIED, "", ""
        elif built.row.failed:
            state, why, log = RevisionState.FAILED, built.row.why, str(builds.log_path(built.row.key))
        elif at in logs:
            state, why, log = RevisionState.UNMEASURED, failed[at], logs[at]
        elif at in failed:
            state, why, log = RevisionState.FAILED, failed[at], ""
        else:
            state, why, log = RevisionState.BUILT, "", ""
        out.append(Revision(commit.id, commit.name, state, commit.subject, why, log, commit.author))
    return tuple(out)


def document_of(
    options: HistoryOptions, series: Series | None, judged: Judged | None, revisions: tuple[Revision, ...], source: str
) -> History:
    """The document of a range, without what is known of layouts."""
    if series is None:
        series = Series("", tuple(r.id for r in revisions), (), tuple(() for _ in revisions))
    if judged is None:
        judged = Judged(Basis.NONE, (), (), (), None, None, None, (), ())
    return document(series, judged, revisions, source, options.alpha)
