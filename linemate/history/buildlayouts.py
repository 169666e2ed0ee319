"""Layouts of builds and comparisons of two of them, made once and kept in the store.

Owns what of ``explain`` a history keeps: the causes in words.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import msgspec

from elfscan.debug.demangle import demangle
from elfscan.fileformat.elf import map_file
from linemate.auditing.image import line_sizes
from linemate.explaining.builds import only_image
from linemate.explaining.run import ExplainRequest, explain, of_pair_between
from linemate.history.builds import Builds, Built
from linemate.history.store import DamagedStore, Store
from linemate.pipeline import vocabulary
from linemate.version import __version__
from reports.jsontext import compact
from sharing.explain.same import loaded_digest
from sharing.history.busy import Busy, Layout, layout_of, whole_variable
from sharing.model.comparison import CauseKind, Comparison
from sharing.model.image import Image
from sharing.model.project import ProjectConfig

Kept = TypeVar("Kept")
_FORM = 4  # of what is kept; another one is made anew
MAX_CAUSES = 8


class ReasonStatus(StrEnum):
    """What ``explain`` says of a kind of cause."""

    CAUSE = "cause"
    RULED_OUT = "ruled out"
    NOT_RULED_OUT = "not ruled out"


class Reason(msgspec.Struct, frozen=True):
    """One cause of ``explain``, or a kind that it ruled out or could not rule out, and why."""

    status: ReasonStatus
    kind: str
    text: str
    confidence: str = ""
    improves: bool = False


@dataclass(frozen=True, slots=True)
class Layouts:
    """Reads binaries for one run.  ``line_size`` None is the architecture's."""

    store: Store
    builds: Builds
    line_size: int | None
    project: ProjectConfig

    @property
    def _maker(self) -> str:
        locks = msgspec.json.encode(self.project).decode() if self.project.lock or self.project.thread else ""
        return f"{__version__} {_FORM} {self.line_size or 'auto'} {locks}"

    def of(self, built: Built) -> Layout:
        """The layout of a build.  Raises LinemateError where its binary is none, or is an archive."""
        kept = self.store.layout(built.row.digest, self._maker)
        if kept is not None:
            return _decoded(kept, Layout, self.store.path)
        image = self._image(built)
        size, pair = line_sizes(self.line_size, image)
        loads = loaded_digest(image, map_file(image.path))
        made = layout_of(image, vocabulary(self.project), size, pair, demangle, loads)
        self.store.put_layout(built.row.digest, self._maker, compact(made))
        return made

    def variable(self, built: Built, name: str) -> Busy | None:
        """A variable that is not among the busy ones, with all of its bytes."""
        return whole_variable(self._image(built), name, demangle)

    def reasons(self, old: Built, new: Built) -> tuple[Reason, ...]:
        """What ``explain`` says of two builds, see ``reasons_of``."""
        kept = self.store.comparison(old.row.digest, new.row.digest, self._maker)
        if kept is not None:
            return _decoded(kept, tuple[Reason, ...], self.store.path)
        made = reasons_of(explain(self._request(old, new)))
        self.store.put_comparison(old.row.digest, new.row.digest, self._maker, compact(made))
        return made

    def of_pair(self, old: Built, new: Built, pair: tuple[str, str], *, parted: bool) -> str:
        """Why two variables came onto one line, or ``parted``; "" where nothing that is known says so."""
        return of_pair_between(self._request(old, new), pair, parted=parted)

    def _request(self, old: Built, new: Built) -> ExplainRequest:
        before, after = (str(self.builds.ready(built, tree=False).binary) for built in (old, new))
        return ExplainRequest(before, after, line_size=self.line_size, project=self.project)

    def _image(self, built: Built) -> Image:
        return only_image(str(self.builds.ready(built, tree=False).binary), called=built.row.binary)


def reasons_of(found: Comparison) -> tuple[Reason, ...]:
    """What a history keeps of a comparison: causes best first, then what is ruled out and what is not."""
    return (
        *(
            Reason(ReasonStatus.CAUSE, c.kind.value, c.summary, c.confidence.name.lower(), c.improves)
            for c in found.causes[:MAX_CAUSES]
        ),
        *(Reason(ReasonStatus.RULED_OUT, r.kind.value, r.why) for r in found.ruled_out),
        *(Reason(ReasonStatus.NOT_RULED_OUT, r.kind.value, r.why) for r in found.not_ruled_out),
    )


def layout_reason(reasons: tuple[Reason, ...]) -> Reason | None:
    """What is said of the layout: a cause, else why it is ruled out, or is not."""
    return next((r for r in reasons if r.kind == CauseKind.LAYOUT.value), None)


def sentences(reasons: tuple[Reason, ...]) -> tuple[str, ...]:
    """The causes in words, with kind and confidence in front."""
    return tuple(f"{r.kind} ({r.confidence}): {r.text}" for r in reasons if r.status is ReasonStatus.CAUSE)


def left_open(reasons: tuple[Reason, ...]) -> tuple[str, ...]:
    """What may have made the difference besides the causes: kinds that too little was recognised to exclude.

    Where there is no cause, the sentence that says so names them.
    """
    if any(r.status is ReasonStatus.CAUSE and r.kind == CauseKind.NONE.value for r in reasons):
        return ()
    return tuple(f"{r.kind}, {r.text}" for r in reasons if r.status is ReasonStatus.NOT_RULED_OUT)


def _decoded(text: str, kind: type[Kept], path: str) -> Kept:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DamagedStore(f"{path}: holds a broken document: {error}") from error
