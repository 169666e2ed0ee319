"""What compilers leave of their own names in an ELF file, and what language that says of code without names.

Owns .comment.
"""

from __future__ import annotations

from elfscan.fileformat.elf import ElfFile

MAX_COMMENT_BYTES = 1 << 20  # linkers merge equal strings: more than a page is rare
_RUST, _CLANG = "rustc version ", "clang version "


def compilers_comments(elf: ElfFile) -> tuple[str, ...]:
    """Each once, in the order of the file.  Raises Malformed where the section lies outside."""
    row = elf.find_section(".comment")
    if row is None:
        return ()
    found = elf.section_bytes(row)[:MAX_COMMENT_BYTES].tobytes().split(b"\0")
    return tuple(dict.fromkeys(text.decode("utf-8", "backslashreplace") for text in found if text))


def language_of_nameless(elf: ElfFile) -> str:
    """Rust, or "" where nothing says it.

    gcc is named in every file for the start-up code, so that a program of C that gcc made and that links a library of
    Rust is taken for Rust; one that clang made is not.
    """
    comments: tuple[str, ...] = elf.losses.attempt(
        "comments of compilers", lambda: compilers_comments(elf), (), incomplete=False
    )
    if any(_CLANG in text for text in comments):
        return ""
    return "Rust" if any(text.startswith(_RUST) for text in comments) else ""
