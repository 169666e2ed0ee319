"""numpy without the threads that its library of matrices (OpenBLAS) starts, one a processor.

Owns the variable that says so.  No matrix here is large enough for them, and with two processors they take 20 ms of
every start.
"""

from __future__ import annotations

import os

_VARIABLE = "OPENBLAS_NUM_THREADS"
ONE_THREAD = {_VARIABLE: "1"}  # for the environment of a process that imports numpy itself


def load_numpy() -> None:
    """Import it; the commands that this run starts see nothing of the variable, and what a user set is kept."""
    if _VARIABLE in os.environ:
        return
    os.environ.update(ONE_THREAD)
    try:
        import numpy  # noqa: F401
    finally:
        del os.environ[_VARIABLE]
