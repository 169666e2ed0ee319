"""Edits as a diff, as clang-apply-replacements' YAML, and as contents of files that are as they were when analysed.

Owns the texts.  Writing the contents is ``linemate.fixing.journal``'s.
"""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from reports.escape import visible
from sharing.fix.edits import apply_edits
from sharing.model.errors import LinemateError
from sharing.model.finding import SourceEdit
from sharing.model.inputs import read_source

_NO_NEWLINE = "\\ No newline at end of file\n"


def by_file(edits: Iterable[SourceEdit]) -> dict[str, list[SourceEdit]]:
    files: dict[str, list[SourceEdit]] = {}
    for edit in edits:
        files.setdefault(edit.file, []).append(edit)
    return dict(sorted(files.items()))


def changed_files(edits: Sequence[SourceEdit]) -> dict[Path, tuple[bytes, bytes]]:
    """Content before and after, by path.  Raises LinemateError where a file is not what was analysed."""
    result: dict[Path, tuple[bytes, bytes]] = {}
    for name, own in by_file(edits).items():
        path = Path(name)
        try:
            before = read_source(path)
        except OSError as error:
            raise LinemateError(f"{name}: {error.strerror}") from error
        digest = hashlib.sha256(before).hexdigest()
        if any(edit.sha256 != digest for edit in own):
            raise LinemateError(f"{name}: changed since it was analysed; nothing was written")
        if any(not 0 <= edit.begin <= edit.end <= len(before) for edit in own):
            raise LinemateError(f"{name}: an edit lies outside of the file")
        result[path] = (before, apply_edits(before, own))
    return result


def refuse_links_out(files: Iterable[Path], folder: Path) -> None:
    """Raise LinemateError for a file that is named within a tree and by a link lies outside of it.

    Whoever made the tree made the link: an edit would change a file that nobody spoke of.  The tree of a file is the
    repository around it, or ``folder`` where there is none.
    """
    for path in files:
        named = Path(os.path.abspath(path))
        tree = next((parent for parent in named.parents if (parent / ".git").exists()), folder.absolute())
        real = Path(os.path.realpath(named))
        if named.is_relative_to(tree) and not real.is_relative_to(os.path.realpath(tree)):
            raise LinemateError(f"{path}: is by a link {real}, outside of {tree}; nothing was written")


def folder_of_diff(files: Iterable[Path], folder: Path) -> Path:
    """Where a diff of these files is applied: in ``folder`` if it holds them all, else in the repository around it.

    Without one in the nearest folder above that holds them.  ``patch`` and ``git apply`` refuse a name with ``..``.
    """
    named = [Path(os.path.abspath(path)) for path in files]
    home = Path(os.path.abspath(folder))
    nearest = Path(os.path.commonpath([home, *named]))
    above = [parent for parent in (nearest, *nearest.parents) if (parent / ".git").exists()]
    return nearest if nearest == home or not above else above[0]


def unified_diff(files: dict[Path, tuple[bytes, bytes]], folder: Path, *, for_terminal: bool) -> str:
    """One diff that ``patch -p1`` and ``git apply`` take in ``folder``; for a terminal, controls are escaped."""
    pieces: list[str] = []
    for path, (before, after) in files.items():
        name = visible(os.path.relpath(path, folder))
        lines = difflib.unified_diff(_lines(before), _lines(after), f"a/{name}", f"b/{name}")
        for line in lines:
            text = line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}"
            pieces.append(_escaped(text) if for_terminal else text)
    return "".join(pieces)


def _lines(data: bytes) -> list[str]:
    # Only \n ends a line: str.splitlines would also end it at form feeds and others.
    *whole, rest = data.decode("utf-8", "surrogateescape").split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])


def _escaped(text: str) -> str:
    return "\n".join("\t".join(visible(part) for part in line.split("\t")) for line in text.split("\n"))


def replacements_yaml(edits: Sequence[SourceEdit]) -> str:
    """The document that clang-apply-replacements reads: offsets and lengths in bytes of the files as they are."""
    rows = ["---", "MainSourceFile: ''", "Replacements:" if edits else "Replacements: []"]
    for edit in edits:
        rows += [
            f"  - FilePath: {_quoted(os.path.abspath(edit.file))}",
            f"    Offset: {edit.begin}",
            f"    Length: {edit.end - edit.begin}",
            f"    ReplacementText: {_quoted(edit.replacement)}",
        ]
    return "\n".join([*rows, "...", ""])


def _quoted(text: str) -> str:
    """A double-quoted YAML scalar (YAML 1.2, 5.7)."""
    short = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    pieces = []
    for char in text:
        code = ord(char)
        if 0xD800 <= code <= 0xDFFF:
            raise LinemateError("a path or an edit is not UTF-8: it cannot be exported as YAML")
        printable = char.isprintable() and code < 0x10000
        pieces.append(short.get(char) or (char if printable else f"\\x{code:02x}" if code < 256 else f"\\U{code:08x}"))
    return f'"{"".join(pieces)}"'
