"""What the libraries that a program needs do with the functions that it hands them, where their files are found.

Owns where the loader would find a library, and which of them are worth reading: those that start threads, that the
vocabulary says nothing of, and that the program hands a function of its own.  What a library's code does with it is
``sharing.static.libraryentries``'s.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from elfscan.fileformat import constants as c
from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.fileformat.placement import open_program
from elfscan.image import read_images
from sharing.knowledge import Knowledge
from sharing.knowledge.runtimes import imports_threads
from sharing.model.errors import LinemateError
from sharing.model.image import Image
from sharing.model.inputs import read_input
from sharing.static.callees import function_at
from sharing.static.handedfunctions import Handed, handed_to_imports
from sharing.static.libraryentries import has_own_vocabulary, read_near_starts, run_on_threads
from sharing.static.roots import Elsewhere

MAX_BYTES = 64 << 20  # of a library whose code is read: a second or two
MAX_CONFIGURED_BYTES = 64 << 10  # of a list of the loader's folders
_C_LIBRARIES = (
    "libc.so", "libc.musl", "ld-", "libm.so", "libmvec.so", "libdl.so", "librt.so", "libutil.so", "libresolv.so",
    "libanl.so", "libnsl.so", "libcrypt.so", "libgcc_s.so", "libstdc++.so", "libc++.so", "libc++abi.so",
)  # fmt: skip
_LINKED_IN = ("at_quick_exit", "atexit", "pthread_atfork")  # of the C library, which no shared file of it exports
_CONFIGURED = Path("/etc/ld.so.conf.d")
_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")


class _Library(msgspec.Struct, frozen=True):
    """``exports`` are its functions' addresses by name."""

    path: str
    exports: dict[str, int]
    imports: frozenset[str]


class _Taken(msgspec.Struct, frozen=True):
    """``whole``: (name of an exported function, argument) that runs on threads or is handed to one; ``words``: with the
    bytes into the record that the argument leads to, what is taken out of it where threads are started."""

    whole: frozenset[tuple[str, int]] = frozenset()
    words: frozenset[tuple[str, int, int]] = frozenset()


def starts_elsewhere(image: Image, knowledge: Knowledge) -> Elsewhere:
    """What other files do with functions of this program: run them on threads, as far as their files are found."""
    needed = [name for name in image.needed if not name.startswith(_C_LIBRARIES) and "/" not in name]
    handed = handed_to_imports(image) if needed else {}
    missing, threaded = [], []
    for name in needed if handed else ():
        library = _found(name, image)
        if library is None:
            missing.append(name)
            continue
        here = {function: by for function, by in handed.items() if function in library.exports}
        handed = {function: by for function, by in handed.items() if function not in here}
        if not here or imports_threads(library.imports) is None:
            continue
        if has_own_vocabulary(list(library.exports), knowledge):
            continue
        if said := _said(here, _taken(library.path, knowledge), name):
            return Elsewhere(said)
        threaded += [name] if any(map(_is_sure, here.values())) else []
    unseen = {function: by for function, by in handed.items() if missing and _is_sure(by)}
    return Elsewhere(missing=", ".join(missing) if _not_of_c(unseen) else "", threaded=", ".join(threaded))


def _said(here: dict[str, dict[int, Handed]], taken: _Taken, library: str) -> str:
    """Which function of a library starts threads, and what of the program's runs there; "" none does."""
    for function, argument in sorted(taken.whole):
        handed = here.get(function, {}).get(argument)
        if handed is not None and handed.itself:
            return f"{function} of {library} starts threads, and is handed {handed.itself}"
    for function, of_arguments in sorted(here.items()):
        for argument, handed in sorted(of_arguments.items()):
            whole = (function, argument) in taken.whole
            for at, name in sorted(handed.record.items()):
                if whole or (function, argument, at) in taken.words:
                    return f"{function} of {library} starts threads, and is handed {name} in a record"
    return ""


def _is_sure(handed: dict[int, Handed]) -> bool:
    return any(one.sure for one in handed.values())


def _not_of_c(handed: dict[str, dict[int, Handed]]) -> bool:
    """Is one of these a function of a library that was not found, and none of the C library's?"""
    return bool(set(handed) - c_exports())


@functools.cache
def c_exports() -> frozenset[str]:
    """What the libraries of C and C++ of this machine export; nothing where they are not found."""
    found: set[str] = set()
    for name in ("libc.so.6", "libm.so.6", "libstdc++.so.6"):
        for folder in _folders():
            with contextlib.suppress(LinemateError):
                found.update(_read(os.path.join(folder, name)).exports)
                break
    return frozenset((*found, *_LINKED_IN) if found else ())


def _found(name: str, image: Image) -> _Library | None:
    """The first file of that name, for the same machine, where the loader looks."""
    for folder in (*_own_folders(image.path), *_folders()):
        path = os.path.realpath(os.path.join(folder, name))
        with contextlib.suppress(LinemateError):
            if os.path.isfile(path) and ElfFile(path, map_file(path)).arch == image.arch:
                return _read(path)
    return None


def _own_folders(path: str) -> Iterator[str]:
    """Those that the program names, then those of the environment."""
    with contextlib.suppress(LinemateError), open_program(ElfFile(path, map_file(path))) as program:
        here = os.path.dirname(os.path.realpath(path))
        for text in (*program.dynamic_strings(c.DT_RPATH), *program.dynamic_strings(c.DT_RUNPATH)):
            for folder in filter(None, text.split(":")):
                yield folder.replace("${ORIGIN}", here).replace("$ORIGIN", here)
    yield from filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))


@functools.cache
def _folders() -> tuple[str, ...]:
    """Where this machine's loader looks."""
    found: list[str] = []
    for path in sorted(_CONFIGURED.glob("*.conf")):
        with contextlib.suppress(LinemateError):
            text = read_input(str(path), MAX_CONFIGURED_BYTES).decode("utf-8", "replace")
            found += [line.strip() for line in text.splitlines() if line.strip().startswith("/")]
    return (*dict.fromkeys((*found, *_FOLDERS)),)


@functools.lru_cache(maxsize=64)
def _read(path: str) -> _Library:
    with open_program(ElfFile(path, map_file(path))) as program:
        table = program.symbols.table
        rows = np.flatnonzero((program.section >= 0) & (table["dynamic"] != 0) & (table["type"] == c.STT_FUNC))
        names = program.symbols.names.decode(table["name"][rows])
        exports = dict(zip(names, program.address[rows].tolist(), strict=True))
        return _Library(path, exports, frozenset(program.import_names()))


@functools.lru_cache(maxsize=64)
def _taken(path: str, knowledge: Knowledge) -> _Taken:
    """What this library runs on threads; nothing of one that is too large."""
    if os.path.getsize(path) > MAX_BYTES:
        return _Taken()
    with contextlib.suppress(LinemateError):
        (library,) = read_images(path, types=False)
        exports = _read(path).exports
        names: dict[int, list[str]] = {}
        rows = function_at(library, np.array(list(exports.values()), np.uint64)).tolist()
        for name, row in zip(exports, rows, strict=True):
            names.setdefault(row, []).append(name)
        whole, words = run_on_threads(library, knowledge), read_near_starts(library, knowledge)
        return _Taken(
            frozenset((name, argument) for row, argument in whole for name in names.get(row, ())),
            frozenset((name, argument, at) for row, argument, at in words for name in names.get(row, ())),
        )
    return _Taken()
