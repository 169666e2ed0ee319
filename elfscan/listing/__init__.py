"""Layouts from text, as images without code: listings of ``nm`` (also System.map), maps of linkers, notes of addresses.

Owns the table of the formats.  Nothing is known of accesses, types or the processor, so nothing is judged from them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from elfscan.listing import ldmap, lldmap, nm, notes
from elfscan.listing.rows import HEAD, Listing
from elfscan.listing.toimage import image_of
from sharing.model import Image, Malformed, Unrecognized
from sharing.model.inputs import read_input

MAX_BYTES = 1 << 30  # maps of browsers have hundreds of MB


@dataclass(frozen=True, slots=True)
class Format:
    """``shows``: is a text of this format?  ``read`` takes (path for messages, text) and raises Malformed."""

    name: str
    shows: Callable[[str], bool]
    read: Callable[[str, str], Listing]


FORMATS = (
    Format("map of GNU ld", ldmap.shows, ldmap.read),
    Format("map of lld", lldmap.shows, lldmap.read),
    Format("listing of nm", nm.shows, nm.read),
)


def read_listing(path: str, part: str = "") -> Image:
    """The image of a listing, of a map, or else of notes.

    ``part`` is a part of the heading of the notes that are meant.  Raises Unrecognized, Malformed for a broken line.
    """
    data = read_input(path, MAX_BYTES, "a listing or a map")
    if not data:
        raise Malformed(path, 0, "the file is empty")
    if b"\0" in data[:HEAD]:
        raise Unrecognized(path, "not text: no listing and no map")
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    for known in FORMATS:
        if known.shows(text):
            return image_of(path, known.read(path, text), known.name)
    if notes.shows(text):
        return image_of(path, notes.read(path, text, part), "notes of addresses")
    raise Unrecognized(path, "neither a listing of nm nor a map of GNU ld or lld")
