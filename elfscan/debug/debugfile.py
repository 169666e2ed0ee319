"""Where the debug information of a binary is: in it, beside it, or in the system's debug directories.

Owns the search for separate debug files (.gnu_debuglink, build-id directories, dwz' common file, split-DWARF
packages, an explicit file) and the proof that a candidate belongs to the binary.  Reads no DWARF.
"""

from __future__ import annotations

import enum
import os
import zlib
from collections.abc import Iterable, Iterator

import msgspec

from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.fileformat.symbols import has_symbol_table
from sharing.model import LinemateError, Malformed, Unrecognized
from sharing.model.inputs import open_input

_ROOTS = ["/usr/lib/debug"]
_MAX_BUILD_ID_BYTES = 64
_MAX_LINK_BYTES = 4096
_MAX_SUMMED_BYTES = 16 << 30
_BLOCK_BYTES = 1 << 20


_MODULES = "/lib/modules/"  # where kernels have their modules


class FoundBy(enum.StrEnum):
    """What led to a separate debug file, in words (``Image.debug_source``)."""

    BUILD_ID = "build-id"
    LINK = "debug link"
    PATH = "its path, and build-id"


class DebugLinks(msgspec.Struct, frozen=True):
    """What a file says of its debug information.

    ``build_id`` is in hex, ``debuglink`` the (file name, CRC-32) of .gnu_debuglink, ``altlink`` the (path, build-id in
    hex) of .gnu_debugaltlink; ``has_dwarf``: it has .debug_info itself.
    """

    build_id: str | None = None
    debuglink: tuple[str, int] | None = None
    altlink: tuple[str, str] | None = None
    has_dwarf: bool = False

    @staticmethod
    def of(elf: ElfFile) -> DebugLinks:
        return DebugLinks(elf.build_id, elf.debug_link(), elf.alt_link(), elf.has_dwarf)


class DebugFiles(msgspec.Struct, frozen=True):
    """The files to read types from.  ``main`` None: there is no debug information.

    ``how`` names in words where it came from (``Image.debug_source``); ``problems`` are candidates that were turned
    down and why.  ``symbols`` is a separate debug file that has a symbol table.
    """

    main: str | None
    alt: str | None
    dwp: str | None
    how: str
    problems: tuple[str, ...]
    symbols: ElfFile | None = None


class _Facts(msgspec.Struct, frozen=True):
    """What identifies an ELF file and leads to its companions."""

    build_id: str | None
    has_dwarf: bool
    altlink: tuple[str, str] | None
    symbols: ElfFile | None  # it, where it has a symbol table


def find_debug(
    path: str, links: DebugLinks, *, explicit: str | None = None, roots: Iterable[str] | None = None
) -> DebugFiles:
    """Find the debug files of the ELF file ``path``.

    ``explicit`` is the user's own choice: it must exist and match, else ``Malformed``.  ``roots`` are the debug
    directories, None the system's and what ``search_also`` added.
    """
    directories = tuple(_ROOTS if roots is None else roots)
    problems: list[str] = []
    main: str | None = None
    symbols: ElfFile | None = None
    how, altlink = "", links.altlink
    if explicit is not None:
        facts = _explicit(explicit, links)
        altlink, symbols = facts.altlink, facts.symbols
        if facts.has_dwarf:
            main, how = explicit, f"{explicit} (as asked)"
        else:
            problems.append(f"{explicit}: has no debug information: its symbols alone are used")
    elif links.has_dwarf:
        main, how = path, "the file"
    else:
        for candidate, by in _candidates(path, links, directories):
            reason = _mismatch(candidate, links, by)
            if reason is None:
                main, how = candidate, f"{candidate} ({by})"
                facts = _facts(candidate)
                altlink, symbols = facts.altlink, facts.symbols
                break
            problems.append(f"{candidate}: {reason}")
    alt = _find_alt(main, altlink, directories, problems) if main and altlink else None
    return DebugFiles(main, alt, _find_package(path, main), how, tuple(problems), symbols)


def search_also(root: str) -> None:
    """Search a folder as the system's debug directory, for the rest of this process."""
    if root not in _ROOTS:
        _ROOTS.append(root)


def searched() -> tuple[str, ...]:
    """The debug directories that this process searches."""
    return tuple(_ROOTS)


def build_id_file(root: str, build_id: str) -> str:
    """Where a debug directory has the file of that build-id (in hex)."""
    return os.path.join(root, ".build-id", build_id[:2], f"{build_id[2:]}.debug")


def missing_debug(path: str) -> str | None:
    """The build-id of a debug file of the ELF file ``path`` that no folder has: its own, or dwz' common one.

    None where nothing is missing, and where it has no name.  Raises LinemateError where ``path`` cannot be read.
    """
    links = DebugLinks.of(ElfFile(path, map_file(path)))
    found = find_debug(path, links)
    if found.main is None:
        return links.build_id
    common = links.altlink if found.main == path else _facts(found.main).altlink
    return common[1] if common is not None and found.alt is None and _is_hex(common[1]) else None


def build_id_of(path: str) -> str | None:
    """The build-id of a file in hex, None where it has none or is no sound ELF file."""
    try:
        return _facts(path).build_id
    except (OSError, _Unreadable):
        return None


def _explicit(explicit: str, links: DebugLinks) -> _Facts:
    build_id, debuglink = links.build_id, links.debuglink
    try:
        facts = _facts(explicit)
    except OSError as error:
        raise Malformed(explicit, None, error.strerror or str(error)) from error
    except _Unreadable as error:
        raise Malformed(explicit, None, str(error)) from error
    if not facts.has_dwarf and facts.symbols is None:
        raise Malformed(explicit, None, "has neither debug information nor symbols")
    if build_id and facts.build_id and facts.build_id != build_id:
        raise Malformed(explicit, None, f"belongs to another binary: build-id {facts.build_id}, expected {build_id}")
    if not (build_id and facts.build_id) and debuglink is not None and _crc32(explicit) != debuglink[1]:
        raise Malformed(
            explicit, None, f"belongs to another binary: CRC {_crc32(explicit):08x}, expected {debuglink[1]:08x}"
        )
    return facts


def _candidates(path: str, links: DebugLinks, roots: tuple[str, ...]) -> Iterator[tuple[str, FoundBy]]:
    """Existing files in gdb's order: by build-id, then by link beside the file, in .debug, in the debug directory.

    Those by path alone come behind the build-id's, which have to match as well.
    """
    own, build_id, debuglink = os.path.realpath(path), links.build_id, links.debuglink
    if build_id and _is_hex(build_id):
        for root in roots:
            candidate = build_id_file(root, build_id)
            if os.path.isfile(candidate):
                yield candidate, FoundBy.BUILD_ID
    if build_id:
        for root in roots:
            for candidate in _by_path(own, root):
                if os.path.isfile(candidate) and os.path.realpath(candidate) != own:
                    yield candidate, FoundBy.PATH
    if not debuglink or not _is_plain_name(debuglink[0]):
        return
    name = debuglink[0]
    directory = os.path.dirname(own)
    places = [os.path.join(directory, name), os.path.join(directory, ".debug", name)]
    places += [os.path.join(root, directory.lstrip("/"), name) for root in roots]
    for candidate in places:
        if os.path.isfile(candidate) and os.path.realpath(candidate) != own:
            yield candidate, FoundBy.LINK


def _by_path(own: str, root: str) -> Iterator[str]:
    """Where a debug directory has files by their paths, as those of Debian's kernel modules, which have no link.

    A module that is unpacked elsewhere has the path that it is installed at.
    """
    installed = own[own.rfind(_MODULES) :] if _MODULES in own else own
    for place in dict.fromkeys((own, installed)):
        yield os.path.join(root, place.lstrip("/"))
        yield os.path.join(root, f"{place.lstrip('/')}.debug")


def _mismatch(candidate: str, links: DebugLinks, by: FoundBy) -> str | None:
    """Why ``candidate`` is not the debug file, None when it is; a link is proved by its CRC."""
    build_id, debuglink = links.build_id, links.debuglink if by is FoundBy.LINK else None
    try:
        facts = _facts(candidate)
        if not facts.has_dwarf:
            return "has no debug information"
        if build_id and facts.build_id and facts.build_id != build_id:
            return f"build-id {facts.build_id}, expected {build_id}"
        if debuglink is None:
            return None if facts.build_id else "has no build-id"
        crc = _crc32(candidate)
    except OSError as error:
        return error.strerror or str(error)
    except _Unreadable as error:
        return str(error)
    except LinemateError as error:
        return str(error).removeprefix(f"{candidate}: ")
    return None if crc == debuglink[1] else f"CRC {crc:08x}, expected {debuglink[1]:08x}"


def _find_alt(main: str, altlink: tuple[str, str], roots: tuple[str, ...], problems: list[str]) -> str | None:
    """The file that dwz moved common entries to."""
    name, wanted = altlink
    places: list[str] = []
    if name and "\0" not in name:
        places.append(os.path.join(os.path.dirname(os.path.realpath(main)), name))
        if not name.startswith("/"):
            places += [os.path.join(root, ".dwz", os.path.basename(name)) for root in roots]
    if _is_hex(wanted):
        places += [build_id_file(root, wanted) for root in roots]
    for candidate in places:
        if not os.path.isfile(candidate):
            continue
        try:
            found = _facts(candidate).build_id
        except (OSError, _Unreadable) as error:
            problems.append(f"{candidate}: {error}")
            continue
        if found == wanted:
            return candidate
        problems.append(f"{candidate}: build-id {found}, expected {wanted}")
    problems.append(f"{name!r}: the common debug file of dwz was not found; names and types in it are missing")
    return None


def _find_package(path: str, main: str | None) -> str | None:
    """The package of split units beside the binary or beside its debug file."""
    for base in dict.fromkeys(p for p in (path, main) if p):
        if os.path.isfile(f"{base}.dwp"):
            return f"{base}.dwp"
    return None


class _Unreadable(Exception):
    """A candidate that is not a sound ELF file; never leaves this module."""


def _facts(path: str) -> _Facts:
    if not os.path.isfile(path):
        raise _Unreadable("not a regular file")
    try:
        elf = ElfFile(path, map_file(path))
        row = elf.find_section(".gnu_debugaltlink")
        altlink = None if row is None else parse_altlink(elf.section_bytes(row)[:_MAX_LINK_BYTES].tobytes())
        return _Facts(elf.build_id, elf.has_dwarf, altlink, elf if has_symbol_table(elf) else None)
    except (Malformed, Unrecognized) as error:
        where = f"offset {error.offset:#x}: " if isinstance(error, Malformed) and error.offset is not None else ""
        raise _Unreadable(f"not a sound ELF file: {where}{error.why}") from error
    except LinemateError as error:
        raise _Unreadable(str(error).removeprefix(f"{path}: ")) from error


def parse_altlink(data: bytes) -> tuple[str, str] | None:
    """(path, build-id in hex) from the bytes of .gnu_debugaltlink; None when damaged."""
    name, separator, build_id = data.partition(b"\0")
    if not separator or not name or not build_id or len(build_id) > _MAX_BUILD_ID_BYTES:
        return None
    return os.fsdecode(name), build_id.hex()


def parse_debuglink(data: bytes, byteorder: str) -> tuple[str, int] | None:
    """(file name, CRC-32) from the bytes of .gnu_debuglink; None when damaged.

    ``byteorder`` is the file's, "little" or "big".  The CRC stands at the next multiple of four bytes.
    """
    name, separator, _ = data.partition(b"\0")
    start = (len(name) + 1 + 3) // 4 * 4
    if not separator or not name or len(data) < start + 4:
        return None
    return os.fsdecode(name), int.from_bytes(data[start : start + 4], "big" if byteorder == "big" else "little")


def _crc32(path: str) -> int:
    """CRC-32 of a whole file, as ``objcopy --add-gnu-debuglink`` computes it."""
    crc, left = 0, _MAX_SUMMED_BYTES
    with open_input(path, "a debug file") as stream:
        while block := stream.read(_BLOCK_BYTES):
            crc = zlib.crc32(block, crc)
            left -= len(block)
            if left < 0:
                raise LinemateError(f"{path}: larger than {_MAX_SUMMED_BYTES >> 30} GiB: its CRC is not computed")
    return crc


def _is_hex(text: str) -> bool:
    return len(text) > 2 and all(c in "0123456789abcdef" for c in text)


def _is_plain_name(name: str) -> bool:
    """Whether a link is a mere file name; anything else would lead out of the searched directories."""
    return bool(name) and "/" not in name and "\0" not in name and name not in (".", "..")
