"""Layouts of builds and comparisons of two of them, made once and kept in the store.

Owns what of ``explain`` a history keeps: the causes in words.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import msgspec

import linemate
from elfscan.demangle import demangle
from elfscan.image import read_images
from linemate.explain import ExplainRequest, explain
from linemate.history_builds import Builds, Built
from linemate.history_store import DamagedStore, Store
from linemate.pipeline import vocabulary
from sharing.history.busy import Busy, Layout, layout_of, whole_variable
from sharing.model.comparison import CauseKind
from sharing.model.errors import LinemateError
from sharing.model.image import Image
from sharing.model.project import ProjectConfig

Kept = TypeVar("Kept")
_FORM = 1  # of what is kept; another one is made anew
MAX_CAUSES = 8


class Reason(msgspec.Struct, frozen=True):
    """One cause of ``explain``, or what it ruled out (``strength`` -1)."""

    kind: str
    confidence: str
    strength: float
    improves: bool
    text: str


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
        return f"{linemate.__version__} {_FORM} {self.line_size or 'auto'} {locks}"

    def of(self, built: Built) -> Layout:
        """The layout of a build.  Raises LinemateError where its binary is none, or is an archive."""
        kept = self.store.layout(built.row.digest, self._maker)
        if kept is not None:
            return _decoded(kept, Layout, self.store.path)
        image = self._image(built)
        size, pair = self._sizes(image)
        made = layout_of(image, vocabulary(self.project), size, pair, demangle)
        self.store.put_layout(built.row.digest, self._maker, _encoded(made))
        return made

    def variable(self, built: Built, name: str) -> Busy | None:
        """A variable that is not among the busy ones, with all of its bytes."""
        return whole_variable(self._image(built), name, demangle)

    def reasons(self, old: Built, new: Built) -> tuple[Reason, ...]:
        """What ``explain`` says of two builds: causes best first, then what it rules out."""
        kept = self.store.comparison(old.row.digest, new.row.digest, self._maker)
        if kept is not None:
            return _decoded(kept, tuple[Reason, ...], self.store.path)
        before, after = (str(self.builds.ready(built, tree=False).binary) for built in (old, new))
        found = explain(ExplainRequest(before, after, line_size=self.line_size, project=self.project))
        made = (
            *(
                Reason(c.kind.value, c.confidence.name.lower(), c.strength, c.improves, c.summary)
                for c in found.causes[:MAX_CAUSES]
            ),
            *(Reason(r.kind.value, "", -1.0, False, r.why) for r in found.ruled_out),
        )
        self.store.put_comparison(old.row.digest, new.row.digest, self._maker, _encoded(made))
        return made

    def _image(self, built: Built) -> Image:
        images = list(islice(read_images(str(self.builds.ready(built, tree=False).binary)), 2))
        if len(images) != 1 or images[0].member:
            raise LinemateError(f"{built.row.binary}: is an archive; give the program that it is linked into")
        return images[0]

    def _sizes(self, image: Image) -> tuple[int, int]:
        size = self.line_size or image.arch.line_size
        return size, 2 * size if self.line_size else max(image.arch.pair_size, size)


def layout_reason(reasons: tuple[Reason, ...]) -> Reason | None:
    """What is said of the layout: a cause, else why it is ruled out."""
    return next((r for r in reasons if r.kind == CauseKind.LAYOUT.value), None)


def sentences(reasons: tuple[Reason, ...]) -> tuple[str, ...]:
    """The causes in words, with kind and confidence in front."""
    return tuple(f"{r.kind} ({r.confidence}): {r.text}" for r in reasons if r.strength >= 0)


def _encoded(value: object) -> str:
    # Names may hold bytes that were no UTF-8, as lone surrogates.
    text = msgspec.json.encode(_plain(msgspec.to_builtins(value)))
    return text.decode()


def _plain(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_plain(k): _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, list | tuple) else value


def _decoded(text: str, kind: type[Kept], path: str) -> Kept:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DamagedStore(f"{path}: holds a broken document: {error}") from error
