"""The programs that an editor has files of open: which one a file belongs to, and what the last check of each said.

Owns the choice: the program that was named for all files, else by file that of the nearest compile database.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from linemate.database import find_database
from linemate.editor.analysis import Analysis
from linemate.options import CheckOptions


@dataclass(slots=True)
class EditedProgram:
    """One program.  ``shown`` are the documents, by URI, that have diagnostics of it."""

    options: CheckOptions
    analysis: Analysis | None = None
    shown: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Programs:
    """``named`` is the program of all files; without one each compile database is a program, as ``options_of`` says."""

    named: CheckOptions | None
    options_of: Callable[[Path], CheckOptions]
    _known: dict[Path | None, EditedProgram] = field(default_factory=dict)

    def of(self, path: Path) -> EditedProgram:
        """The program of a file.  Raises LinemateError where no compile database is near it."""
        key = None if self.named is not None else find_database(path.parent)
        if key not in self._known:
            options = self.options_of(key) if key is not None else self.named
            assert options is not None
            self._known[key] = EditedProgram(options)
        return self._known[key]
