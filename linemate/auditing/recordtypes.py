"""The types of records by name, of a file whose image was read without them.

Owns the second look at debug information: variables alone lead to few types, and pointers to none.
"""

from __future__ import annotations

from collections.abc import Sequence

from elfscan.image import read_images
from sharing.model.errors import LinemateError
from sharing.model.image import Image
from sharing.model.types import TypeTable
from sharing.static.heapimage import NamedTypes


def read_records(image: Image, debug_file: str | None, names: Sequence[str]) -> NamedTypes:
    """What debug information says of these records; nothing where it cannot be read a second time."""
    nothing = NamedTypes(TypeTable(), ())
    if image.member is not None or not image.debug_source:
        return nothing
    try:
        for again in read_images(image.path, debug_file=debug_file, records=tuple(names), access=False):
            return NamedTypes(again.types, again.files, again.pointers)
    except (LinemateError, OSError):
        pass
    return nothing
