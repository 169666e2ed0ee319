"""What a project says about itself in ``linemate.toml``: its locks, its threads, what it accepts.

Owns the shape of the file; ``linemate.config`` reads it and reports mistakes, ``docs/configuration.md`` explains it.
"""

from __future__ import annotations

import msgspec

from sharing.model.finding import Severity


class ProjectSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Table ``[project]``: defaults for flags.  ``line_size`` is in bytes; None leaves it to the architecture."""

    line_size: int | None = None
    fail_on: Severity | None = None


class LockRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One ``[[lock]]``: a lock type of the project.

    ``type`` is a type name or glob.  ``hot`` are [start, end) byte ranges of the object that a lock operation
    writes; empty means the whole object.  ``lock`` and ``unlock`` name the functions that take its address first.
    """

    type: str
    hot: tuple[tuple[int, int], ...] = ()
    lock: tuple[str, ...] = ()
    unlock: tuple[str, ...] = ()


class ThreadRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One ``[[thread]]``: ``function`` starts a thread at its argument number ``entry_argument`` (from 0)."""

    function: str
    entry_argument: int


class SuppressRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One ``[[suppress]]``: findings of ``rule`` that name a variable matching ``symbol`` (globs) are accepted.

    ``reason`` is required: a suppression without one cannot be reviewed.
    """

    reason: str
    rule: str = "*"
    symbol: str = "*"


class FixSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Table ``[fix]``: ``align_macro`` is the project's own macro, used in remedies instead of ``alignas``."""

    align_macro: str | None = None


class ProjectConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file.  ``path`` is where it was read from, "" when there is none."""

    project: ProjectSettings = ProjectSettings()
    lock: tuple[LockRow, ...] = ()
    thread: tuple[ThreadRow, ...] = ()
    suppress: tuple[SuppressRow, ...] = ()
    fix: FixSettings = FixSettings()
    path: str = ""
