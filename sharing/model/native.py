"""Where the native parts of linemate are: ``$LINEMATE_NATIVE_DIR``, the build tree, then the installed package.

Owns the order of these places.  Runs and loads nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent.parent
_FOLDERS = (str(_ROOT / "build" / "release" / "bin"), str(_ROOT / "elfscan" / "native" / "bin"))


def native_file(name: str) -> Path | None:
    """The first existing file called ``name``, None where it is not built."""
    override = os.environ.get("LINEMATE_NATIVE_DIR")
    # Strings: asked twice for each member of an archive.
    for folder in (override, *_FOLDERS) if override else _FOLDERS:
        if os.path.isfile(path := os.path.join(folder, name)):
            return Path(path)
    return None
