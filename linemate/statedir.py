"""Where linemate keeps what must outlive a killed run: the journals of ``fix --apply``.

Owns the choice of folders (XDG base directories) and whom they belong to.  What others could have written is never
believed, so a folder counts only where it is its user's alone.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from sharing.model.errors import LinemateError

_LASTING = "/var/tmp"  # for users without a home; unlike /tmp it survives a restart


def state_folders() -> list[Path]:
    """The folders that are there and ours, the preferred first."""
    found = []
    for folder in _wanted():
        with contextlib.suppress(OSError):
            if is_private(folder):
                found.append(folder)
    return found


def make_state_folder() -> Path:
    """The first folder that can be ours and written to.  Raises LinemateError where there is none."""
    reasons = []
    for folder in _wanted():
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not is_private(folder):
                reasons.append(f"{folder}: others may write to it")
            elif os.access(folder, os.W_OK | os.X_OK):
                return folder
            else:
                reasons.append(f"{folder}: not writable")
        except OSError as error:
            reasons.append(f"{folder}: {error.strerror}")
    raise LinemateError(
        f"no folder for the journal that keeps an interrupted write whole: set XDG_STATE_HOME ({'; '.join(reasons)})"
    )


def _wanted() -> list[Path]:
    # The specification says that a relative path there is to be ignored.
    bases = [os.environ.get("XDG_STATE_HOME", ""), os.path.join(os.path.expanduser("~"), ".local", "state")]
    named = next((Path(base, "linemate", "fix") for base in bases if os.path.isabs(base)), None)
    return [*([named] if named else []), Path(_LASTING, f"linemate-fix-{os.geteuid()}")]


def is_private(folder: Path) -> bool:
    """Whether it is a folder of ours that nobody else can write to."""
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022
