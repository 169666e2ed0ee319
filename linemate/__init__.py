"""The command line, ``pipeline.py``, which joins the other packages, and the functions for use from Python.

This file owns the list of what ``import linemate`` offers, which is loaded when it is first used:
asking for the version stays instant.
"""

from linemate.version import __version__

__all__ = [
    "Comparison",
    "Confidence",
    "Finding",
    "LayoutReport",
    "LinemateError",
    "Malformed",
    "Report",
    "Severity",
    "Unrecognized",
    "__version__",
    "audit",
    "check",
    "explain",
    "lines",
]

TYPE_CHECKING = False  # as a type checker takes it; importing `typing` would cost more than all of this
if TYPE_CHECKING:
    from linemate.api import (
        Comparison,
        Confidence,
        Finding,
        LayoutReport,
        LinemateError,
        Malformed,
        Report,
        Severity,
        Unrecognized,
        audit,
        check,
        explain,
        lines,
    )
else:

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import linemate.api

        value = globals()[name] = getattr(linemate.api, name)
        return value
