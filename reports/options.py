"""How a report is to be shown.  Owns the options that emitters share; none changes what was found."""

from __future__ import annotations

from dataclasses import dataclass

from sharing.model.finding import Severity
from sharing.model.memorymap import MemoryMap
from sharing.model.rule import RuleInfo

DEFAULT_WIDTH = 100
MAX_PROSE_WIDTH = 140  # longer lines of prose are hard to read
DEFAULT_TOP = 5  # lines of memory that text has a block of


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """``width`` is in columns, for text only.  ``color`` writes ANSI colours.  ``summary`` False leaves findings only.

    ``details``: in text, all that is known of every finding; else a table and blocks of the ``top`` worst lines.

    ``fail_on``: from this severity on a finding fails the run, None for none.

    ``rules`` are the rules that ran, for formats that list them; ``version`` is linemate's own and ``home`` the
    address of its pages, "" where it has none.  ``source_root`` is the folder that source paths are written relative
    to, "" where none is.  ``maps`` is all writable memory of the images, for a page: no document has it.

    ``saved`` is the file that the report was read from, "" of a new one.  ``again``: in the shell's words, what a
    command takes behind the id of a finding to read the same sources in the same way.
    """

    color: bool = False
    width: int = DEFAULT_WIDTH
    summary: bool = True
    details: bool = True
    top: int = DEFAULT_TOP
    rules: tuple[RuleInfo, ...] = ()
    version: str = ""
    home: str = ""
    source_root: str = ""
    fail_on: Severity | None = Severity.HIGH
    maps: tuple[MemoryMap, ...] = ()
    saved: str = ""
    again: str = ""
