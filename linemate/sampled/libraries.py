"""Names of variables of the other files that a profile has mapped: libraries, or the program where a library is judged.

Owns that such a file is read when the first line of it is named.  What cannot be read has no names, which is no error.
"""

from __future__ import annotations

from collections.abc import Sequence

from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.image import read_image
from sharing.judge.sampled.names import Names
from sharing.knowledge import Knowledge
from sharing.model.errors import LinemateError
from sharing.model.operands import MappedFiles


class Libraries:
    """The variables of a file, by the path of its module."""

    def __init__(self, mapped: Sequence[MappedFiles], knowledge: Knowledge) -> None:
        # One that is missing may be another build by now.
        self._here = {file.module.path for one in mapped for file in one.files if not file.module.missing}
        self._knowledge = knowledge
        self._names: dict[str, Names | None] = {}

    def __call__(self, path: str) -> Names | None:
        """Names of the file's variables, None where it cannot be read."""
        if path not in self._names:
            self._names[path] = self._read(path) if path in self._here else None
        return self._names[path]

    def _read(self, path: str) -> Names | None:
        try:
            return Names(read_image(ElfFile(path, map_file(path)), access=False), self._knowledge)
        except (LinemateError, OSError):
            return None
