"""Static variables and their types from DWARF: the client of the native helper ``linemate-dwarf``.

Owns the document that the helper writes and the helper's bounds.  Does not look for separate debug files
(``elfscan.debug.debugfile`` does) and does not join variables with symbols (``elfscan.image`` does).
"""

from __future__ import annotations

import os

import msgspec
import numpy as np
import numpy.typing as npt

from elfscan.tools import Bounds, Starter, ToolJob, tool_path
from sharing.model import LinemateError, Malformed, TypeRecord

VERSION = 1
_TIMEOUT_S = 10.0
_TIMEOUT_PER_GIB_S = 20.0
_MEMORY_BYTES = 800 << 20
_MAX_OUTPUT_BYTES = 256 << 20


class DwarfUnit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A compilation unit that defines at least one variable.  ``language``: ``C11``, ``C_plus_plus_14``."""

    name: str
    comp_dir: str
    producer: str
    language: str


class DwarfVariable(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A variable with static storage.

    ``name`` is qualified (``ns::C::x``); a function-local static is its plain name and ``function`` the qualified
    name of the function around it.  ``address`` is an SVMA; in relocatable files an offset in ELF section
    ``section``, which is -1 otherwise; of a thread-local variable the offset in the thread's block.  ``type``,
    ``file`` and ``unit`` are rows of the document's tables, -1 unknown.  ``align`` is the alignment in bytes that
    the declaration asks for, 0 when it asks for none.
    """

    name: str
    linkage: str
    address: int
    section: int
    type: int
    file: int
    line: int
    unit: int
    function: str
    tls: bool
    external: bool
    align: int = 0


class DwarfLocal(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A local variable or parameter at the instruction ``ip``.

    ``register`` (DWARF's number) plus ``offset`` is its address where ``in_memory``, else its value.
    """

    ip: int
    name: str
    function: str
    type: int
    register: int
    offset: int
    in_memory: bool


class DwarfFunction(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A function around an instruction.

    ``file`` (a row of the document's, -1 unknown), ``line`` and ``column`` are where an inlined one was called;
    ``gives_memory``: it is asked for a number of bytes and returns an address of no type.  ``result`` is the row of the
    type of pointers that it returns, -1 none, of one that begins with the instruction.
    """

    name: str
    file: int
    line: int
    column: int
    gives_memory: bool
    result: int = -1


class DwarfParameter(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A pointer argument to a record that was asked for by name.

    ``address`` (in ELF section ``section`` of a relocatable file, else -1) is the function's, 0 where its code is in
    several places; ``argument`` counts the registers for whole numbers that the arguments before it take; ``type`` is
    the row of what it points to; ``symbol`` the function's linkage name.
    """

    address: int
    section: int
    argument: int
    type: int
    symbol: str


class DwarfDocument(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Everything read from one file.  Variables are sorted: static storage by (section, address), then thread-local.

    ``problems`` are (ordinal of the unit in the file, offset in .debug_info, reason); what they concern is missing
    from the tables, the rest is sound.  ``locals`` are those asked for; ``pointees`` are (row of a type of pointers,
    row of what they point to), of the units with locals; ``functions`` are those around each instruction that was
    asked for, inlined ones first.  ``parameters`` are of the records that were asked for.
    """

    version: int
    units: list[DwarfUnit]
    files: list[str]
    types: list[TypeRecord]
    variables: list[DwarfVariable]
    problems: list[tuple[int, int, str]]
    locals: list[DwarfLocal] = []
    pointees: list[tuple[int, int]] = []
    functions: list[tuple[int, list[DwarfFunction]]] = []
    parameters: list[DwarfParameter] = []


# Made here: msgspec looks at a type when it first decodes one, and two threads that do so at once crash the process.
_DECODER = msgspec.msgpack.Decoder(DwarfDocument)


class DwarfJob:
    """A running helper; ``result`` waits for it."""

    def __init__(self, path: str, job: ToolJob) -> None:
        self._path = path
        self._job = job

    def result(self) -> DwarfDocument:
        """The document.  Raises ``Malformed`` or ``LinemateError`` with one line."""
        data = self._job.result()
        try:
            document = _DECODER.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise LinemateError(f"linemate-dwarf: unexpected answer for {self._path}: {error}") from error
        if document.version != VERSION:
            raise LinemateError(
                f"linemate-dwarf: document version {document.version}, expected {VERSION}: rebuild the native helpers"
            )
        return document

    def close(self) -> None:
        """Stop the helper when its answer is no longer wanted."""
        self._job.close()


def start_dwarf(
    path: str,
    *,
    alt: str | None = None,
    dwp: str | None = None,
    relocatable: bool = False,
    records: tuple[str, ...] | None = (),
    threads: int = 0,
    starter: Starter = ToolJob,
) -> DwarfJob:
    """Start reading the debug information in the ELF file ``path`` and return at once.

    ``alt`` is the common file of dwz, ``dwp`` a package of split units.  ``relocatable`` files are patched in memory,
    so they may use more of it.  ``records`` adds records of such names to ``types``, whether a variable needs them or
    not, with the arguments that point to one; None adds all that have a name.  ``threads`` 0: one for each processor.
    ``starter`` starts the helper.
    """
    options = ["--dwp", dwp] if dwp else []
    if records is None:
        options.append("--all-types")
    for name in records or ():
        options += ["--record", name]
    if threads:
        options += ["--threads", str(threads)]
    return _start(path, alt, options, starter=starter, copied=relocatable)


def start_locals(path: str, ips: npt.NDArray[np.uint64], *, frames: str, alt: str | None = None) -> DwarfJob:
    """The same for the units around the instructions ``ips``, with the variables that are in scope there.

    ``frames`` is the file with the unwind tables, which separate debug files lack.
    """
    addresses = ips.astype("=u8").tobytes()
    return _start(path, alt, ["--locals", "--frames", _argument(frames)], stdin=addresses)


def start_unwind(path: str, ips: npt.NDArray[np.uint64]) -> ToolJob:
    """Start asking how the functions around the instructions ``ips`` are left; the answer is ``frames``'s."""
    return _start_tool(path, ["--unwind"], stdin=ips.astype("=u8").tobytes())


def _start(
    path: str,
    alt: str | None,
    options: list[str],
    *,
    stdin: bytes | None = None,
    starter: Starter = ToolJob,
    copied: bool = False,
) -> DwarfJob:
    options = [*(["--alt", alt] if alt else []), *options]
    return DwarfJob(path, _start_tool(path, options, stdin=stdin, starter=starter, copied=copied))


def _start_tool(
    path: str,
    options: list[str],
    *,
    stdin: bytes | None = None,
    starter: Starter = ToolJob,
    copied: bool = False,
) -> ToolJob:
    try:
        status = os.stat(path)
        # What is there, and not what the size says: a hole costs nothing and earns nothing.
        size = min(status.st_size, 512 * status.st_blocks)
    except OSError as error:
        raise Malformed(path, None, error.strerror or str(error)) from error
    return starter.start(
        [str(tool_path("linemate-dwarf")), *options, _argument(path)],
        stdin=stdin,
        bounds=Bounds(
            _TIMEOUT_S + _TIMEOUT_PER_GIB_S * size / (1 << 30),
            _MEMORY_BYTES + (2 * size if copied else 0),
            _MAX_OUTPUT_BYTES,
        ),
    )


def _argument(path: str) -> str:
    """A path that is no option, whatever it begins with."""
    return path if path.startswith("/") else f"./{path}"
