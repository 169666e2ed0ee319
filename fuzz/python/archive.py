"""Archives, thin and not (``elfscan.fileformat.archive``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from collections.abc import Iterable

from elfscan.fileformat.archive import entries, is_archive, open_members
from elfscan.fileformat.elf import map_file
from elfscan.fileformat.symbols import read_symbols
from fuzz.python.elf_file import object_file
from fuzz.python.engine.target import Target, input_file

_LONG = b"a_member_with_a_name_longer_than_sixteen_bytes.o/\n"


def _member(name: bytes, body: bytes) -> bytes:
    head = b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, b"644", len(body))
    return head + body + b"\n" * (len(body) % 2)


def _seeds() -> Iterable[bytes]:
    body = object_file().bytes()[:600]
    yield (
        b"!<arch>\n"
        + _member(b"/", bytes(8))
        + _member(b"//", _LONG)
        + _member(b"/0", body)
        + _member(b"text/", b"abc")
    )
    yield b"!<arch>\n" + _member(b"#1/8", b"name.o\0\0" + body) + _member(b"__.SYMDEF", bytes(4))
    yield b"!<thin>\n" + _member(b"//", _LONG) + _member(b"/0", b"") + _member(b"input/", b"")
    yield b"!<arch>\n" + _member(b"a.o/", object_file().bytes())


def one(data: bytes) -> None:
    path = str(input_file(data))
    mapped = map_file(path)
    if not is_archive(mapped):
        return
    entries(path, mapped)
    for elf, _ in open_members(path, mapped):
        read_symbols(elf)


TARGET = Target(
    "archives, thin and not", one, _seeds, (b"!<arch>\n", b"!<thin>\n", b"`\n", b"#1/", b"//", b"/SYM64/", b"../")
)
