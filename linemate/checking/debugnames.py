"""Whether a program's debug information may name a variable that a compiler dropped.

Owns that look into the sections: compilers describe what they leave out, so that a name says of which sources the
program was made though no byte that is loaded does.
"""

from __future__ import annotations

from elfscan.debug.linetable import MAX_SECTION_BYTES, debug_section
from elfscan.fileformat.elf import ElfFile, map_file
from sharing.model.image import Image

_ENTRIES = ".debug_info"
_NAMES = (".debug_str", _ENTRIES, ".debug_line_str")


def may_name(linked: Image, built: Image, name: str) -> bool:
    """Does the debug information of ``linked`` hold it?  Not where that is as long as in ``built``.

    What a change adds makes it longer, wherever the sources lie.
    """
    elf, other = (ElfFile(image.path, map_file(image.path)) for image in (linked, built))
    if elf.find_section(_ENTRIES) is None:
        return False
    ours, theirs = (len(debug_section(one, _ENTRIES)) for one in (elf, other))
    if not 0 < ours < MAX_SECTION_BYTES:
        return True
    if ours == theirs:
        return False
    return any(name.encode() + b"\0" in debug_section(elf, section) for section in _NAMES)
