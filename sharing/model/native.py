"""Where the native parts of linemate are: ``$LINEMATE_NATIVE_DIR``, the build tree, then the installed package.

Owns the order of these places.  Runs and loads nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent.parent


def native_file(name: str) -> Path | None:
    """The first existing file called ``name``, None where it is not built."""
    override = os.environ.get("LINEMATE_NATIVE_DIR")
    folders = [Path(override)] if override else []
    folders += [_ROOT / "build" / "release" / "bin", _ROOT / "elfscan" / "native" / "bin"]
    return next((folder / name for folder in folders if (folder / name).is_file()), None)
