"""Whether two files run the same: nothing of what is loaded differs, whatever was stripped from one of them.

Owns that comparison of bytes.  A build-id is no proof: it can be set by hand, tools change files behind it, and two
builds with other comments in their source differ in nothing else.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from sharing.explain.causes.base import is_file
from sharing.model.comparison import FileTraits
from sharing.model.image import Image

SAME_BUILD = "the same build"
CHUNK_BYTES = 1 << 24
# Loaded, but read by nothing that runs: a hash of all of the file, debug information and comments included.
_IDENTITIES = frozenset({".note.gnu.build-id", ".note.go.buildid"})


def same_build(old: Image, old_traits: FileTraits, new: Image, new_traits: FileTraits) -> bool:
    """Whether both run the same: the same allocated sections at the same places, of the same bytes.

    Another build-id is no difference: flags without effect and comments in the source change it as well.
    """
    if not (is_file(old) and is_file(new)) or not (old_traits.code and new_traits.code):
        return False
    places = [[(s.name, s.address, s.size) for s in image.sections] for image in (old, new)]
    if places[0] != places[1] or not old.sections:
        return False
    return all(
        _equal(old_traits.code, one.file_offset, new_traits.code, other.file_offset, one.size)
        for one, other in zip(old.sections, new.sections, strict=True)
        if one.name not in _IDENTITIES
    )


def loaded_digest(image: Image, data: npt.NDArray[np.uint8]) -> str:
    """What is loaded of a file, as a digest: of two files that run the same it is equal."""
    seen = hashlib.sha256(image.arch.name.encode())
    for section in image.sections:
        if section.name in _IDENTITIES:
            continue
        seen.update(f"\0{section.name}\0{section.address}\0{section.size}\0".encode("utf-8", "surrogateescape"))
        if section.file_offset is not None:
            seen.update(data[section.file_offset : section.file_offset + section.size].data)
    return seen.hexdigest()


def _equal(old: memoryview, old_start: int | None, new: memoryview, new_start: int | None, size: int) -> bool:
    if old_start is None or new_start is None:
        return old_start is new_start
    if old_start + size > len(old) or new_start + size > len(new):
        return False
    return all(
        old[old_start + at : old_start + min(at + CHUNK_BYTES, size)]
        == new[new_start + at : new_start + min(at + CHUNK_BYTES, size)]
        for at in range(0, size, CHUNK_BYTES)
    )


def what_differs(old: Image, new: Image) -> str:
    """``the same build``, and which of the two files says less; of two builds, that all that is loaded is the same."""
    if old.build_id != new.build_id:
        return "two builds that load the same"
    lacking = [label for label, image, other in (("old", old, new), ("new", new, old)) if _told(image) < _told(other)]
    return f"{SAME_BUILD}; the {lacking[0]} file is stripped" if lacking else SAME_BUILD


def _told(image: Image) -> tuple[bool, bool]:
    """(debug information, symbols)"""
    return (bool(image.debug_source), bool(image.counts.get("symtab_symbols")))
