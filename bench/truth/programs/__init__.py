"""The programs of the corpus: how each is started, what load it is given, which files are judged.

Owns the list; each file has the rows of one kind.  Everything runs on the loopback interface or on files made here,
bounded in time; programs are Debian's, without symbols.
"""

from __future__ import annotations

from bench.truth.programs import databases, files, loads, media, network, onion, storage, voice
from bench.truth.programs.program import Program

PROGRAMS: tuple[Program, ...] = (
    *(*databases.ROWS, *files.ROWS, *media.ROWS, *network.ROWS, *onion.ROWS, *storage.ROWS, *voice.ROWS),
    *loads.ROWS,
)
