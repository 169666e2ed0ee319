"""Reports that were saved as JSON (``linemate.saved``), read and rendered in every format.

Owns the inputs that the target starts with.
"""

from __future__ import annotations

from fuzz.python.engine.target import Target, input_file
from linemate.saved import read_saved
from tests.saved.documents import texts


def one(data: bytes) -> None:
    document, kind = read_saved(str(input_file(data)))
    for emitter in kind.emitters.values():
        emitter.render(document)


TARGET = Target(
    "reports that were saved as JSON",
    one,
    lambda: [text.encode() for text in texts().values()],
    (b'"0x', b'"slices":[', b'"between":[', b"1e300", b"-1", b"null", b"\\ud800"),
)
