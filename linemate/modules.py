"""The files that a profile has mapped: which is the target, which are at hand, what their sampled code touches.

Owns the match between the paths and build-ids of a profile and the files of this machine, and the refusal of a profile
of another build or another program.  Does not decode (``elfscan.code.query``) and places no sample
(``sharing.sampled.attribution.attribute``).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.image import read_image
from pmu.jitdump import NAME, JitDump, read_dump
from sharing.knowledge import Knowledge
from sharing.model.addressspaces import KERNEL_PID
from sharing.model.arch import find_architecture
from sharing.model.attribution import Module
from sharing.model.errors import LinemateError
from sharing.model.image import (
    FUNCTION_DTYPE,
    VARIABLE_DTYPE,
    Architecture,
    FunctionFlag,
    Image,
    ImageKind,
)
from sharing.model.operands import SPAN_DTYPE, Code, MappedFile, MappedFiles, no_code, no_origins
from sharing.model.samples import LOAD_DTYPE, PF_W, PF_X, PROT_EXEC, Samples, load_biases

Table = npt.NDArray[Any]

KERNEL_PATH = "[kernel.kallsyms]"
HELPER_LEVELS = 3  # how far functions without a symbol are followed from those that lock
MAX_NAMED = 5  # files that an error names
# Paths that name memory rather than a file (mm/mmap.c, mm/shmem.c, ipc/shm.c).
_MEMORY = ("//anon", "/anon_hugepage", "/memfd:", "/SYSV", "/dev/", "/drm", "/i915", "/[")


def is_file(path: str) -> bool:
    """Whether a mapping's path is one of a file system."""
    return path.startswith("/") and not path.startswith(_MEMORY)


def open_modules(samples: Samples, image: Image, knowledge: Knowledge) -> MappedFiles:
    """The files of ``samples``, ``image``'s first.

    Raises LinemateError where the profile is of another build of the target, or of programs without it.
    """
    if image.kind is ImageKind.MODULE:
        raise LinemateError(
            f"{image.path}: no profile says where a module's data was loaded; audit vmlinux --samples FILE tells of "
            "the kernel's own"
        )
    if image.synthetic:
        raise LinemateError(f"{image.path}: is not linked: no profile can have samples of it")
    if image.kind is ImageKind.KERNEL:
        return _kernel(samples, image, knowledge)
    mappings = samples.mappings
    target = _target_rows(samples, image)
    elf = ElfFile(image.path, map_file(image.path))
    files = [_file(elf, Module(image.path, image.build_id or "", target=True), lambda: image, knowledge)]
    of_mapping = np.full(len(mappings), -1, np.int32)
    of_mapping[target] = 0
    seen: dict[tuple[int, int], int] = {}
    for row in np.flatnonzero(_of_code(mappings) & (of_mapping < 0)).tolist():
        key = int(mappings["path"][row]), int(mappings["build_id"][row])
        if key not in seen:
            build_id = samples.build_ids[key[1]] if key[1] >= 0 else ""
            seen[key] = len(files)
            files.append(_other(samples.paths[key[0]], build_id, knowledge))
    for row in np.flatnonzero(of_mapping < 0).tolist():
        of_mapping[row] = seen.get((int(mappings["path"][row]), int(mappings["build_id"][row])), -1)
    bias, known = np.zeros(len(mappings), np.uint64), np.zeros(len(mappings), np.bool_)
    for number, one in enumerate(files):
        rows = np.flatnonzero(of_mapping == number)
        if len(rows) and len(one.loads):
            bias[rows], known[rows] = load_biases(mappings[rows], one.loads)
    return MappedFiles(tuple(files), of_mapping, bias, known, unmapped=not len(mappings))


def _target_rows(samples: Samples, image: Image) -> npt.NDArray[np.int64]:
    """The mappings of the target."""
    mappings, own = samples.mappings, os.path.realpath(image.path)
    same_path = np.array([is_file(p) and os.path.realpath(p) == own for p in samples.paths] + [False])
    same_name = np.array([is_file(p) and os.path.basename(p) == os.path.basename(own) for p in samples.paths] + [False])
    same_id = np.array([bool(image.build_id) and b == image.build_id for b in samples.build_ids] + [False])
    by_id = same_id[mappings["build_id"]] & (mappings["build_id"] >= 0)
    if by_id.any():
        return np.flatnonzero(by_id)
    for same in (same_path, same_name):
        here = same[mappings["path"]]
        if not here.any():
            continue
        ids = {samples.build_ids[b] for b in mappings["build_id"][here].tolist() if b >= 0}
        if ids and image.build_id:
            theirs = ", ".join(sorted(ids))
            raise LinemateError(
                f"{image.path}: the profile is of another build: it has build-id {theirs}, this file {image.build_id}"
            )
        return np.flatnonzero(here)
    if len(mappings):
        has = ", ".join(_most_sampled(samples)) or "no samples in any file"
        raise LinemateError(f"{image.path}: the profile has no mapping of it; it has {has}")
    images = {s.image for s in samples.symbols}
    if images and "" not in images and not any(os.path.basename(i) == os.path.basename(own) for i in images):
        named = sorted(i for i in images)[:MAX_NAMED]
        raise LinemateError(f"{image.path}: the profile has no sample in it; it has {', '.join(named)}")
    return np.zeros(0, np.int64)


def _most_sampled(samples: Samples) -> list[str]:
    """The mapped programs and libraries with most samples, without those that only started the program."""
    rows = samples.samples["mapping"]
    counts = np.bincount(rows[rows >= 0], minlength=len(samples.mappings))
    by_path: dict[str, int] = {}
    for row in np.flatnonzero(_of_code(samples.mappings)).tolist():
        path = samples.paths[int(samples.mappings["path"][row])]
        if is_file(path):
            by_path[path] = by_path.get(path, 0) + int(counts[row])
    order = sorted(by_path, key=lambda path: (-by_path[path], path))
    return [path for path in order if by_path[path]][:MAX_NAMED]


def _of_code(mappings: Table) -> npt.NDArray[np.bool_]:
    """Mappings from which code may be executed; old profiles do not say."""
    executable = (mappings["protection"] & PROT_EXEC != 0) | (mappings["protection"] == 0)
    return np.asarray(executable & (mappings["flags"] & 1 == 0))


def _other(path: str, build_id: str, knowledge: Knowledge) -> MappedFile:
    """A file that is not the target, if it is here and still the one that was mapped."""
    if path.startswith(KERNEL_PATH) or path.startswith("[guest.kernel"):
        return MappedFile(Module(path, build_id, missing="the kernel's code, for which no file is available"))
    if not is_file(path):
        return MappedFile(Module(path, build_id, missing="no file"))
    if NAME.fullmatch(os.path.basename(path)) and (dump := read_dump(Path(path))) is not None:
        return _generated(dump, knowledge)
    try:
        elf = ElfFile(path, map_file(path))
        if build_id and elf.build_id and elf.build_id != build_id:
            why = f"has build-id {elf.build_id}, the profile {build_id}"
            return MappedFile(Module(path, build_id, missing=why))
        module = Module(path, build_id or elf.build_id or "")
        return _file(elf, module, lambda: read_image(elf, types=False, access=False), knowledge)
    except LinemateError as error:
        return MappedFile(Module(path, build_id, missing=str(error).removeprefix(f"{path}: ")))


def _file(elf: ElfFile, module: Module, image: Callable[[], Image], knowledge: Knowledge) -> MappedFile:
    loads = np.zeros(len(elf.loads), LOAD_DTYPE)
    for ours, theirs in (("offset", "offset"), ("address", "address"), ("size", "file_size"), ("flags", "flags")):
        loads[ours] = elf.loads[theirs]
    spans = np.zeros(len(elf.loads), SPAN_DTYPE)
    start, size = elf.loads["address"], elf.loads["size"]
    end = start + size
    spans["start"], spans["end"] = start, end
    spans["writable"] = elf.loads["flags"] & PF_W != 0
    spans["executable"] = elf.loads["flags"] & PF_X != 0
    reader = _CodeReader(elf.path, elf.arch, partial(_bytes_of, elf), image, knowledge)
    return MappedFile(module, elf.arch.name, loads, spans[end > start], reader.read, reader.origins)


def _bytes_of(elf: ElfFile, start: int, end: int) -> bytes:
    """The code at link-time addresses."""
    for load in elf.loads:
        low, size = int(load["address"]), int(load["file_size"])
        if low <= start < low + size:
            offset = int(load["offset"]) + start - low
            return bytes(elf.bytes_at(offset, min(end, low + size) - start, "code"))
    return b""


def _generated(dump: JitDump, knowledge: Knowledge) -> MappedFile:
    """Code that was made at run time: its link-time addresses are places in the dump.  No data of it is known."""
    arch = find_architecture(dump.machine, dump.bits, dump.byteorder)
    loads = np.zeros(1, LOAD_DTYPE)
    loads["size"], loads["flags"] = len(dump.data), PF_X
    first = np.unique(dump.pieces["offset"], return_index=True)[1]  # one that was moved has its bytes once
    functions = np.zeros(len(first), FUNCTION_DTYPE)
    functions["address"], functions["size"] = dump.pieces["offset"][first], dump.pieces["size"][first]
    functions["name"] = dump.pieces["name"][first]
    image = _with_functions(str(dump.path), arch, list(dump.names), functions)

    def bytes_at(start: int, end: int) -> bytes:
        return bytes(dump.data[start:end])

    reader = _CodeReader(str(dump.path), arch, bytes_at, lambda: image, knowledge)
    module = Module(str(dump.path))
    return MappedFile(module, arch.name, loads, read_code=reader.read, read_origins=reader.origins)


def _with_functions(path: str, arch: Architecture, names: list[str], functions: Table) -> Image:
    """Code of which nothing but its functions is known."""
    return Image(
        path=path,
        member=None,
        arch=arch,
        kind=ImageKind.SHARED,
        build_id=None,
        synthetic=False,
        sections=(),
        names=names,
        variables=np.zeros(0, VARIABLE_DTYPE),
        functions=functions,
    )


def _kernel(samples: Samples, image: Image, knowledge: Knowledge) -> MappedFiles:
    """Samples of the kernel itself.  Where it was put: its mapping's offset is the run-time address of _text."""
    elf = ElfFile(image.path, map_file(image.path))
    mappings = samples.mappings
    paths = np.array([p.startswith(KERNEL_PATH) or os.path.basename(p).startswith("vmlinux") for p in samples.paths])
    of_kernel = np.append(paths, False)[mappings["path"]]
    rows = np.flatnonzero((mappings["pid"] == KERNEL_PID) & of_kernel)
    if len(mappings) and not len(rows):
        raise LinemateError(f"{image.path}: the profile has no mapping of the kernel; record it as root")
    ids = {samples.build_ids[b] for b in mappings["build_id"][rows].tolist() if b >= 0}
    if ids and image.build_id and image.build_id not in ids:
        raise LinemateError(
            f"{image.path}: the profile is of another kernel: it has build-id {', '.join(sorted(ids))}, this file "
            f"{image.build_id}"
        )
    from elfscan.fileformat.symbols import read_symbols

    symbols = read_symbols(elf)
    files = (_file(elf, Module(image.path, image.build_id or "", target=True), lambda: image, knowledge),)
    of_mapping = np.full(len(mappings), -1, np.int32)
    bias, known = np.zeros(len(mappings), np.uint64), np.zeros(len(mappings), np.bool_)
    for row in rows.tolist():
        name = samples.paths[int(mappings["path"][row])].removeprefix(KERNEL_PATH)
        text = symbols.lookup(name if name.startswith("_") else "_text")
        of_mapping[row] = 0
        if text is not None:
            with np.errstate(over="ignore"):
                bias[row], known[row] = mappings["pgoff"][row] - np.uint64(text), True
    return MappedFiles(files, of_mapping, bias, known, kernel=True, unmapped=not len(mappings))


@dataclass(slots=True)
class _CodeReader:
    """Reads a file's functions when the first sample asks for them."""

    path: str
    arch: Architecture
    bytes_at: Callable[[int, int], bytes]  # from one link-time address to another, or to the end of the part it is in
    image: Callable[[], Image]
    knowledge: Knowledge
    _helpers: frozenset[int] | None = None
    _read: list[Image] = field(default_factory=list)

    def read(self, ips: Table) -> Code:
        """The sampled instructions at sorted distinct link-time addresses."""
        from elfscan.code.query import read_operands

        try:
            image = self._open()
            starts, sizes = image.functions["address"], image.functions["size"]
            points, operands = read_operands(self.arch, ips, starts, starts + sizes, self.bytes_at)
            rows = points["function"]
            used = np.unique(rows[rows >= 0])
            points["function"] = np.where(rows >= 0, np.searchsorted(used, rows), -1)
            helpers = self._lock_helpers(image) if (image.functions["name"][used] < 0).any() else frozenset()
            names = tuple(self._name(image, row) for row in used.tolist())
            return Code(points, operands, names, frozenset(n for n, row in enumerate(used.tolist()) if row in helpers))
        except LinemateError as error:
            why = str(error).removeprefix(f"{self.path}: ")
            return no_code(ips, f"{self.path}: the code of its samples could not be read: {why}")

    def origins(self, ips: Table) -> Table:
        """ORIGIN_DTYPE for sorted distinct link-time addresses; none of code that ``read`` says it cannot read."""
        from elfscan.code.query import read_origins

        try:
            functions = self._open().functions
            starts, sizes = functions["address"], functions["size"]
            return read_origins(self.arch, ips, starts, starts + sizes, self.bytes_at)
        except LinemateError:
            return no_origins(ips)

    def _open(self) -> Image:
        if not self._read:
            self._read.append(self.image())
        return self._read[0]

    def _name(self, image: Image, row: int) -> str:
        name = int(image.functions["name"][row])
        if name >= 0:
            return image.names[name]
        return f"{os.path.basename(self.path)}+{int(image.functions['address'][row]):#x}"

    def _lock_helpers(self, image: Image) -> frozenset[int]:
        """Functions without a symbol that functions of locks call or end in, directly or through others of the kind.

        Libraries are stripped of local symbols: libc's waiting and the second half of its unlocking have no name.
        """
        if self._helpers is None:
            from elfscan.code.query import direct_targets

            table = image.functions
            named = np.flatnonzero((table["name"] >= 0) & (table["flags"] & FunctionFlag.STUB == 0))
            level = [r for r in named.tolist() if self.knowledge.lock_calls(image.names[int(table["name"][r])])]
            found: set[int] = set()
            starts, sizes = table["address"], table["size"]
            for _ in range(HELPER_LEVELS):
                extents = [(int(starts[r]), int(starts[r]) + int(sizes[r])) for r in level]
                targets = direct_targets(self.arch, extents, self.bytes_at)
                at = np.searchsorted(starts, targets)
                at = at[(at < len(table)) & (starts[np.minimum(at, len(table) - 1)] == targets)]
                level = [r for r in at.tolist() if table["name"][r] < 0 and r not in found]
                found |= set(level)
            self._helpers = frozenset(found)
        return self._helpers
