"""A file that appears whole or not at all, whatever ends the run while it is written.

Owns the write.  Whether the file may be replaced is the caller's question.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from sharing.model.process.scratch import beside

_PLAIN = 0o666


def write_whole(path: Path, data: bytes) -> None:
    """Write ``data`` as ``path`` with the mode of the file that was there.  Raises OSError; the old file then stays."""
    with beside(path) as making:
        handle = os.open(making, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PLAIN)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if path.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
        os.replace(making, path)
