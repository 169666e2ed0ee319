"""Files that claim to hold another's debug information: by debug link, by build-id, as dwz' common file, as asked for.

Owns where the candidate lies.  The first byte of the input chooses how it is come by, the rest is the file; what the
package of split units holds is for the native helper, and only found here.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from elfscan.debug.debugfile import DebugLinks, find_debug, parse_altlink, parse_debuglink
from fuzz.python.engine.target import Target, input_file, input_folder
from tests.builders import elf as b
from tests.builders.elf import ElfBuilder

_BUILD_ID = "abcd"
_BY_LINK, _BY_ID, _ALT, _ASKED, _SECTIONS = range(5)


def _seeds() -> Iterable[bytes]:
    elf = ElfBuilder()
    note = b"".join(n.to_bytes(4, "little") for n in (4, 2, 3)) + b"GNU\0" + bytes.fromhex(_BUILD_ID) + bytes(2)
    elf.section(".note.gnu.build-id", note, type=b.NOTE, flags=b.ALLOC, address=0x1000)
    elf.section(".debug_info", bytes(16))
    elf.section(".gnu_debugaltlink", b"common\0" + bytes.fromhex(_BUILD_ID))
    for how in (_BY_LINK, _BY_ID, _ALT, _ASKED):
        yield bytes([how]) + elf.bytes()
    yield bytes([_SECTIONS]) + b"name.debug\0\0\1\2\3\4"


def one(data: bytes) -> None:
    how, body = data[:1], data[1:]
    number = how[0] % (_SECTIONS + 1) if how else 0
    if number == _SECTIONS:
        parse_debuglink(body, "little")
        parse_altlink(body)
        return
    folder = input_folder()
    binary = input_file(b"", "binary")
    root = folder / "root" / ".build-id" / _BUILD_ID[:2]
    root.mkdir(parents=True, exist_ok=True)
    candidate = input_file(
        body, f"root/.build-id/{_BUILD_ID[:2]}/{_BUILD_ID[2:]}.debug" if number == _BY_ID else "other"
    )
    find_debug(
        str(binary),
        DebugLinks(
            build_id=_BUILD_ID if number != _BY_LINK else None,
            debuglink=("other", zlib.crc32(body)) if number == _BY_LINK else None,
            altlink=("other", _BUILD_ID) if number == _ALT else None,
            has_dwarf=number == _ALT,
        ),
        explicit=str(candidate) if number == _ASKED else None,
        roots=(str(folder / "root"),),
    )
    candidate.unlink()


TARGET = Target("companions with debug information", one, _seeds, (b".debug_info\0", b".gnu_debugaltlink\0", b"GNU\0"))
