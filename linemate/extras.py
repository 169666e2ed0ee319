"""Libraries that only some commands need: what installs them where they are missing.

Owns the words, which differ between a checkout and an installed package.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sharing.model.errors import LinemateError

_CHECKOUT = Path(__file__).resolve().parent.parent


def missing(need: str, extra: str) -> LinemateError:
    """The error for ``need``, as in "lsp needs pygls", where nothing of ``extra`` is installed."""
    pinned = _CHECKOUT / f"requirements-{extra}.txt"
    wanted = f"-r {pinned}" if pinned.is_file() else f"'linemate[{extra}]'"
    return LinemateError(f"{need}: {sys.executable} -m pip install {wanted}")
