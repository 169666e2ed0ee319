"""Names that take a compiler's demangler to read: the native helper is asked, which is confined and has bounds.

Owns the protocol of ``linemate-dwarf --names`` (``native/dwarf/Readable.h``).
"""

from __future__ import annotations

from elfscan.tools import Bounds, ToolJob, tool_path
from sharing.model import LinemateError

MAX_NAME_BYTES = 4096  # longer ones stay as they are
_TIMEOUT_S = 60.0  # the helper stops after two seconds of processor time
_MEMORY_BYTES = 1 << 29  # a hostile name of 200 bytes can expand to gigabytes


def by_helper(names: list[str]) -> list[str]:
    """The readable form of each name, none of which holds a zero byte; "" where there is no answer."""
    if not names:
        return []
    try:
        with ToolJob.start(
            [str(tool_path("linemate-dwarf")), "--names"],
            stdin="".join(f"{name}\0" for name in names).encode("utf-8", "replace"),
            bounds=Bounds(_TIMEOUT_S, _MEMORY_BYTES),
        ) as job:
            answer = job.result().decode("utf-8", "backslashreplace").replace("\n", " ")
            found = answer.split("\0")
    except LinemateError:
        found = []
    return [*found, *[""] * len(names)][: len(names)]
