"""Building one variant of a project: compile what is not there yet, link, strip.

Owns the cache of objects and files below ``build/bench/pairs``.  What is in it depends on the text of sources, the
command and the tools' versions alone.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench.measure import Unavailable
from bench.pairs.projects import SOURCES, Project
from bench.places import WORK

COMPILERS = {("gcc", "clang"): "clang-19", ("g++", "clang"): "clang++-19"}
STUBS = {"m": "", "tcmalloc": "libtcmalloc_minimal.so.4", "jemalloc": "libjemalloc.so.2", "extra": "libextra.so.3"}


@dataclass(frozen=True, slots=True)
class Variant:
    """How a project is built.  ``flags`` replace nothing but -O of the same kind; ``stubs`` are libraries (``STUBS``)
    that it is linked with besides its own.
    """

    edits: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    compiler: str = ""
    reverse: bool = False
    stripped: bool = False
    stubs: tuple[str, ...] = ()


def build(project: Project, variant: Variant) -> Path:
    """The file, built now or before.  Raises Unavailable where a tool is missing or fails."""
    compiler = COMPILERS.get((project.compiler, variant.compiler), project.compiler)
    folder = _sources(project, variant.edits)
    flags = ("-O2", "-g", *project.flags, *variant.flags)
    objects = [_object(folder, unit, compiler, flags) for unit in project.units]
    if variant.reverse:
        objects.reverse()
    stubs = [str(_stub(STUBS[name])) for name in variant.stubs]
    # The driver is told of linkers by -fuse-ld, and flags of code generation matter to it under LTO.
    linking = (*flags, f"-B{_linkers()}", *variant.link)
    command = (compiler, *linking, *map(str, objects), *_needed(stubs), *project.libraries)
    out = _place(project.name, command, variant.stripped) / ("lib.so" if project.library else project.name)
    if not out.exists():
        _run((*command, "-o", str(out)))
        if variant.stripped:
            _run(("strip", str(out)))
    return out


def _needed(stubs: list[str]) -> tuple[str, ...]:
    return ("-Wl,--no-as-needed", *stubs, "-Wl,--as-needed") if stubs else ()


def _sources(project: Project, edits: tuple[str, ...]) -> Path:
    """The sources with the edits made."""
    found = WORK / "pairs" / "sources" / f"{project.name}-{'-'.join(edits) or 'as-is'}"
    found.mkdir(parents=True, exist_ok=True)
    for path in (SOURCES / project.name).iterdir():
        text = path.read_text(encoding="utf-8")
        for edit in (edit for name in edits for edit in project.edits[name] if edit.file == path.name):
            if text.count(edit.old) != 1:
                raise Unavailable(f"{project.name}/{path.name} does not hold {edit.old!r} once")
            text = text.replace(edit.old, edit.new)
        place = found / path.name
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")
    return found


def _object(folder: Path, unit: str, compiler: str, flags: tuple[str, ...]) -> Path:
    text = b"".join(path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix == ".h" or path.name == unit)
    made = _place(f"{unit}-object", (compiler, _version(compiler), *flags, text.hex()), False) / "unit.o"
    if not made.exists():
        usual = () if "-shared" in flags else ("-fPIE",)
        if {"-fno-pie", "-fPIC"} & set(flags):
            usual = ()
        _run((compiler, *usual, *flags, "-c", unit, "-o", str(made)), folder)
    return made


@cache
def _linkers() -> Path:
    """A folder in which compilers look for linkers first: Debian's lld has its version in its name."""
    found = WORK / "pairs" / "linkers"
    found.mkdir(parents=True, exist_ok=True)
    for name, place in (("ld.lld", shutil.which("ld.lld-19")),):
        if place and not (found / name).exists():
            (found / name).symlink_to(place)
    return found


def _stub(soname: str) -> Path:
    """A library of that name which defines nothing that anybody uses; "" is the C library's own."""
    if not soname:
        return Path("-lm")
    made = _place("stub", (soname,), False) / soname
    if not made.exists():
        source = made.parent / "stub.c"
        source.write_text("int stub_of_a_library;\n", encoding="utf-8")
        _run(("gcc", "-shared", "-fPIC", f"-Wl,-soname,{soname}", str(source), "-o", str(made)))
    return made


def _place(name: str, command: tuple[str, ...], stripped: bool) -> Path:
    key = hashlib.sha256(repr((command, stripped)).encode()).hexdigest()[:16]
    found = WORK / "pairs" / f"{name}-{key}"
    found.mkdir(parents=True, exist_ok=True)
    return found


@cache
def _version(compiler: str) -> str:
    if not shutil.which(compiler):
        raise Unavailable(f"no {compiler}")
    return _run((compiler, "--version")).partition("\n")[0]


def _run(command: tuple[str, ...], folder: Path | None = None) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise Unavailable(f"{' '.join(command[:6])} …: {why}")
    return done.stdout
