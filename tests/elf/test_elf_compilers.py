"""What compilers' comments say of the language of code without names."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.compilers import compilers_comments, language_of_nameless
from elfscan.fileformat.elf import ElfFile, map_file
from tests.builders.elf import PROGBITS, ElfBuilder

RUST, GCC, CLANG = b"rustc version 1.95.0 (59807616e 2026-04-14)", b"GCC: (Debian 12.2.0) 12.2.0", b"clang version 19.1"


@pytest.mark.parametrize(
    ("comments", "language"),
    [
        ((RUST, GCC), "Rust"),
        ((GCC,), ""),
        ((RUST, GCC, CLANG), ""),  # whose code has no name?
        ((b"a book on rustc version 1",), ""),
        ((), ""),
    ],
)
def test_the_language_of_code_without_names(tmp_path: Path, comments: tuple[bytes, ...], language: str) -> None:
    elf = ElfBuilder()
    elf.section(".comment", b"\0".join((*comments, b"")), flags=0, address=0, type=PROGBITS)
    path = tmp_path / "file"
    path.write_bytes(elf.bytes())
    read = ElfFile(str(path), map_file(str(path)))
    assert compilers_comments(read) == tuple(text.decode() for text in comments)
    assert language_of_nameless(read) == language
