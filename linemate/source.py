"""From source to the images that are judged: facts, program, layout.

Owns the joining of the analyzer's stream with the model of the compilers, built object files or a linked binary.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from elfscan.image import read_images
from linemate.options import CheckOptions, FactsRequest
from sharing.knowledge import Knowledge
from sharing.knowledge.runtimes import imports_threads
from sharing.model import LinemateError, Malformed
from sharing.model.arch import find_architecture, target_architecture
from sharing.model.facts import ACCESS_COLUMNS, AccessFlag, FunctionBits, FunctionFacts
from sharing.model.folders import walk
from sharing.model.image import Architecture, Image, ImageKind
from sharing.model.process import scratch
from sharing.model.project import ProjectConfig
from sharing.source.addressing import AddressSpace, exact, predicted
from sharing.source.emission import Contribution, unit_contributions
from sharing.source.image import source_image
from sharing.source.merge import executables, merge
from sharing.source.merge import part as units_of
from sharing.source.objects import from_binary, from_object
from sharing.source.program import Program

_ORDER, _FLAGS = ACCESS_COLUMNS.index("memory_order"), ACCESS_COLUMNS.index("flags")


def read_program(options: CheckOptions) -> Program:
    """The facts of all units, from streams that were gathered before or by running the Clang tool."""
    if options.streams:
        return read_streams(options.streams)
    stream = gather_facts(options.facts, options.project, Path(scratch.folder()))
    try:
        return read_streams((stream,))
    finally:
        scratch.remove(stream.parent)  # a server or a watch reads again and again


def gather_facts(request: FactsRequest, project: ProjectConfig, within: Path) -> Path:
    """Run the Clang tool, here or on a cluster; the file with its stream, in a new folder in ``within``.

    A tree that stands in for another is on this machine only.
    """
    if request.scheduler is not None and not request.tree:
        from linemate.fleet.facts import gather_on_cluster

        return gather_on_cluster(request, project, within)
    from analyzer.run import run_facts

    return run_facts(request, project, within)


def read_streams(paths: Iterable[str | Path]) -> Program:
    """The program in files of facts."""
    from analyzer.stream import Position, read_facts

    at = Position()
    try:
        return merge(line for path in paths for line in read_facts(Path(path), at))
    except Malformed as error:
        if error.offset is not None:
            raise
        raise Malformed(at.name, at.offset, f"{error.path}: {error.why}") from error


def images(program: Program, options: CheckOptions, knowledge: Knowledge) -> Iterator[tuple[Program, Image]]:
    """Each executable of the program, laid out as predicted, as built, or as linked."""
    linked = next(read_images(options.binary, types=False, access=False), None) if options.binary else None
    built = _built(options.objects, program) if options.objects else {}
    if linked is not None:
        yield program, at_link_addresses(program, linked, knowledge)
        return
    idle: list[Program] = []
    judged: set[int] = set()
    for path, part in executables(program):
        if path and not (options.assume_threads or may_start_threads(part, knowledge)):
            idle.append(part)
            continue
        judged.update(part.members)
        yield part, as_compiled(part, path, built, knowledge)
    if (library := _for_threads_of_others(program, idle, judged)) is not None:
        yield library, as_compiled(library, "", built, knowledge)


def as_compiled(part: Program, path: str, built: dict[str, Image], knowledge: Knowledge) -> Image:
    """An executable as object files have it where they were ``built``, else as the compiler is expected to emit it."""

    def place(instances: list[str]) -> AddressSpace:
        return predicted(part, lambda unit: _contributions(part, unit, built), instances)

    return source_image(part, path or _label(part), architecture(part), knowledge, place)


def _for_threads_of_others(program: Program, idle: Iterable[Program], judged: set[int]) -> Program | None:
    """Units of programs without threads that are written for threads all the same: a library beside its tools."""
    left = sorted({i for part in idle for i in part.members} - judged)
    rest = [i for i in left if all(identity != "main" for identity, _ in program.units[i].functions)]
    if not rest:
        return None
    library = program if len(rest) == len(program.units) else units_of(program, rest)
    return library if any(synchronises(defined.facts) for defined in library.functions.values()) else None


def synchronises(facts: FunctionFacts) -> bool:
    """Does a function that no header brings lock, change something atomically, or pick its own thread's element?"""
    if facts.bits & (FunctionBits.INLINE | FunctionBits.INIT):
        return False
    if facts.lock_ops:
        return True
    columns = len(ACCESS_COLUMNS)
    order, flags = facts.accesses[_ORDER::columns], facts.accesses[_FLAGS::columns]
    return any(order) or any(flag & AccessFlag.OWN for flag in flags)


def may_start_threads(program: Program, knowledge: Knowledge) -> bool:
    """Does an executable name anything that starts a thread?  Without one nothing is shared within the process."""
    if any(d.facts.starts for d in program.functions.values()):
        return True
    symbols = {symbol for i in program.members for symbol in program.units[i].symbols}
    return any(map(knowledge.starts_thread, symbols)) or imports_threads(symbols) is not None


def architecture(program: Program) -> Architecture:
    """By the target triple of the first unit; lines of 64 bytes where that is not known."""
    triple = program.units[program.members[0]].triple if program.members else ""
    found = target_architecture(triple)
    if found is None:
        found = dataclasses.replace(find_architecture(0, 64, "little"), name=triple.partition("-")[0])
    return dataclasses.replace(found, decodes=True)  # accesses come from the source: nothing needs decoding


def _label(program: Program) -> str:
    """What a program without main is called: its only unit, or the folder of all."""
    paths = [program.units[i].path for i in program.members]
    return paths[0] if len(paths) == 1 else os.path.commonpath(paths) if paths else ""


def at_link_addresses(program: Program, linked: Image, knowledge: Knowledge) -> Image:
    """The program laid out where a linked file has its variables.  Raises LinemateError where it has none of them."""
    addresses = from_binary(linked, program)
    if not addresses:
        raise LinemateError(f"{linked.path}: none of the variables in the source is in its symbol table")
    image = source_image(
        program,
        linked.path,
        dataclasses.replace(linked.arch, decodes=True),
        knowledge,
        lambda instances: exact(program, addresses, linked.sections, instances),
    )
    kind = image.kind if linked.kind is ImageKind.RELOCATABLE else linked.kind
    return dataclasses.replace(image, kind=kind, build_id=linked.build_id, synthetic=linked.synthetic)


def _contributions(program: Program, unit: int, built: dict[str, Image]) -> tuple[Contribution, ...]:
    """As the object file has it where there is one, else as the compiler is expected to emit it."""
    image = built.get(program.units[unit].path)
    return from_object(image, program.units[unit]) if image is not None else unit_contributions(program, unit)


def _built(folder: str, program: Program) -> dict[str, Image]:
    """Object files below a folder by the path of the unit that they were made from.

    By debug information; without it by name: ``cache.o``, ``cache.c.o`` and ``target-cache.o`` are of ``cache.c``.
    """
    root = Path(folder)
    if not root.is_dir():
        raise LinemateError(f"{folder}: not a folder")
    by_name: dict[str, list[str]] = {}
    for unit in program.units:
        by_name.setdefault(Path(unit.path).name, []).append(unit.path)
        by_name.setdefault(Path(unit.path).stem, []).append(unit.path)
    found: dict[str, Image] = {}
    files = (Path(where, name) for where, _, names in walk(root) for name in names if name.endswith(".o"))
    for file in sorted(files):
        name = file.name.removesuffix(".o")
        candidates = by_name.get(name) or by_name.get(name.rpartition("-")[2]) or []
        if not candidates:
            continue
        image = next(read_images(str(file), types=False, access=False), None)
        if image is None:
            continue
        path = _nearest(file, candidates)
        found.setdefault(path, image)
    return found


def _nearest(file: Path, candidates: list[str]) -> str:
    """Of several units with the name, the one whose folders end like the object file's."""
    folders = file.parts[:-1]
    return max(candidates, key=lambda c: (sum(p in folders for p in Path(c).parts[:-1]), c))
