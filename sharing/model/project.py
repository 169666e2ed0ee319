"""What a project says about itself in ``linemate.toml``: its locks, its threads, what it accepts.

Owns the shape of the file; ``linemate.config`` reads it and reports mistakes, ``docs/configuration.md`` explains it.
"""

from __future__ import annotations

import msgspec

from sharing.model.finding import Severity
from sharing.model.vocabulary import Vocabulary


class ProjectSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Table ``[project]``: defaults for flags.  ``line_size`` is in bytes; None leaves it to the architecture."""

    line_size: int | None = None
    fail_on: Severity | None = None


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


class ProjectConfig(Vocabulary, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The whole file: settings, and rows as the built-in ones are.  ``path`` is where it was read from, "" for none."""

    project: ProjectSettings = ProjectSettings()
    suppress: tuple[SuppressRow, ...] = ()
    fix: FixSettings = FixSettings()
    path: str = ""

    @property
    def has_rows(self) -> bool:
        return any(getattr(self, name) for name in Vocabulary.__struct_fields__)

    @property
    def rows(self) -> Vocabulary:
        """The rows alone, as the analyzer reads them."""
        return Vocabulary(**{name: getattr(self, name) for name in Vocabulary.__struct_fields__})
