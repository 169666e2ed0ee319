"""Suspect: what is linked in.  Libraries and symbol versions that came, went or changed; allocators above all.

Owns the comparison of DT_NEEDED, interpreter, versions and the allocator that a build carries in itself.
"""

from __future__ import annotations

import re

from sharing.explain import numbers
from sharing.explain.causes.base import Builds, Verdicts, is_file, quoted
from sharing.explain.causes.linkedin import is_static, linked_in
from sharing.model.arrays import picked
from sharing.model.comparison import Cause, CauseKind, FileTraits, RuledOut
from sharing.model.finding import Confidence
from sharing.model.image import FunctionFlag, Image

# Allocators replace malloc for the whole process.  (library name prefix or function prefix, its name)
_ALLOCATOR_LIBRARIES = (
    ("libtcmalloc", "tcmalloc"),
    ("libjemalloc", "jemalloc"),
    ("libmimalloc", "mimalloc"),
    ("libtbbmalloc", "tbbmalloc"),
    ("libhoard", "Hoard"),
    ("libsnmalloc", "snmalloc"),
    ("librpmalloc", "rpmalloc"),
    ("libumem", "libumem"),
    ("libmtmalloc", "mtmalloc"),
    ("libnedmalloc", "nedmalloc"),
    ("libscudo", "Scudo"),
)
_OWN = "an allocator of its own"
_OF_LIBC = "that of the C library"
_ALLOCATOR_FUNCTIONS = (
    ("tc_malloc", "tcmalloc"),
    ("je_malloc", "jemalloc"),
    ("mallocx", "jemalloc"),
    ("mi_malloc", "mimalloc"),
    ("rpmalloc", "rpmalloc"),
    ("nedmalloc", "nedmalloc"),
    ("malloc", _OWN),
)
# What drivers of compilers link besides what they are asked for.
_RUNTIMES = ("libgcc_s.so", "libm.so", "libatomic.so", "libstdc++.so", "libc++.so", "libc++abi.so", "libunwind.so",
             "libc.so", "ld-linux", "libclang_rt", "libubsan.so", "libasan.so")  # fmt: skip
_SONAME = re.compile(r"^(.*?\.so)((?:\.\d+)*)$")


def ask(builds: Builds) -> Verdicts:
    """One cause for all that differs, or dependencies ruled out as far as the files tell."""
    old, new = builds.old.image, builds.new.image
    if not is_file(old) or not is_file(new):
        return Verdicts(notes=("dependencies: a listing does not say what is linked in",))
    before, after = set(old.needed), set(new.needed)
    gone, come = sorted(before - after), sorted(after - before)
    renamed = [(a, b) for a in gone for b in come if _stem(a) == _stem(b)]
    gone = [n for n in gone if n not in {a for a, _ in renamed}]
    come = [n for n in come if n not in {b for _, b in renamed}]
    if linked_in(builds):
        return _linked_in(builds, [*gone, *come])
    allocators = _allocator_changes(old, new, gone, come, renamed)
    versions = _new_versions(builds.old_traits, builds.new_traits)
    loader = _loader(builds.old_traits, builds.new_traits)
    evidence = [f"{name}: needed by the new build only (DT_NEEDED)" for name in come]
    evidence += [f"{name}: needed by the old build only (DT_NEEDED)" for name in gone]
    evidence += [f"{a} became {b}" for a, b in renamed]
    evidence += [*allocators, *versions, *loader]
    if not evidence:
        why = "both builds need the same libraries" + (
            " in the same symbol versions" if builds.old_traits.versions or builds.new_traits.versions else ""
        )
        return Verdicts(ruled_out=(RuledOut(CauseKind.DEPENDENCY, why),))
    strength = max(
        numbers.ALLOCATOR if allocators else 0.0,
        numbers.OTHER_LIBRARY if gone or come else 0.0,
        numbers.LIBRARY_VERSION if renamed or loader else 0.0,
        numbers.SYMBOL_VERSION,
    )
    names = [*come, *gone, *(b for _, b in renamed)]
    return Verdicts(
        (
            Cause(
                kind=CauseKind.DEPENDENCY,
                confidence=Confidence.STATIC,
                strength=strength,
                summary=_summary(allocators, come, gone, renamed, versions, loader),
                symbols=tuple(names[:12]),
                evidence=tuple(evidence[:24]),
                follows=CauseKind.TOOLCHAIN if _of_compilers([*come, *gone]) and not loader and not renamed else None,
                confirm=_confirm(builds, come, gone, allocators),
                refute=(f"ldd {old.path}", f"ldd {new.path}: the same libraries on the machine that is slow"),
            ),
        )
    )


def _linked_in(builds: Builds, names: list[str]) -> Verdicts:
    """Of libraries that one build holds itself, an allocator that only one of both has is told; no more is known."""
    sides = ((builds.old.image, builds.old_traits), (builds.new.image, builds.new_traits))
    before, after = (_any_allocator(image, is_static(traits)) for image, traits in sides)
    which = ", ".join(names) or "libraries"
    note = f"dependencies: {which}: linked in by one build, which does not say in which version"
    if before == after:
        return Verdicts(notes=(note,))
    change = f"allocator: {before or _OF_LIBC}, now {after or _OF_LIBC}"
    cause = Cause(
        kind=CauseKind.DEPENDENCY,
        confidence=Confidence.STATIC,
        strength=numbers.ALLOCATOR,
        summary=change,
        evidence=(change,),
        confirm=_with_its_allocator(builds, "as fast as the old build"),
        refute=_with_its_allocator(builds, "still slow"),
    )
    return Verdicts((cause,), notes=(note,))


def _any_allocator(image: Image, static: bool) -> str:
    """The allocator of a build, linked in or loaded; "" that of the C library, which defines malloc itself."""
    loaded = next(filter(None, map(allocator_of_library, image.needed)), "")
    own = _own_allocator(image)
    return loaded or ("" if static and own == _OWN else own)


def _of_compilers(names: list[str]) -> bool:
    """Whether compilers add and leave out these libraries by themselves; symbol versions they choose at any rate."""
    return all(name.startswith(_RUNTIMES) for name in names)


def _stem(name: str) -> str:
    """libfoo.so.1 and libfoo.so.2 are one library in two versions."""
    found = _SONAME.match(name)
    return found.group(1) if found else name


def allocator_of_library(name: str) -> str:
    """What allocator a library is, "" none."""
    return next((label for prefix, label in _ALLOCATOR_LIBRARIES if name.startswith(prefix)), "")


def _own_allocator(image: Image) -> str:
    """The allocator that an image defines itself, "" none."""
    table = image.functions
    mine = picked(table, (table["name"] >= 0) & (table["flags"] & FunctionFlag.STUB == 0))
    names = {image.names[i] for i in mine["name"].tolist()}
    return next((label for function, label in _ALLOCATOR_FUNCTIONS if function in names), "")


def _allocator_changes(
    old: Image, new: Image, gone: list[str], come: list[str], renamed: list[tuple[str, str]]
) -> list[str]:
    others = any(map(allocator_of_library, come))
    out = [
        f"{name} brings {label}: every allocation goes through it"
        for name in come
        if (label := allocator_of_library(name))
    ]
    out += [
        f"{name} took {label} away: allocations go through {'another library' if others else 'libc again'}"
        for name in gone
        if (label := allocator_of_library(name))
    ]
    out += [f"{label} in another version: {a}, {b}" for a, b in renamed if (label := allocator_of_library(b))]
    before, after = _own_allocator(old), _own_allocator(new)
    if before != after:
        out.append(f"linked in: {before or 'no allocator'} in the old build, {after or 'no allocator'} in the new one")
    return out


def _new_versions(old: FileTraits, new: FileTraits) -> list[str]:
    if not old.versions or not new.versions:
        return []
    come = sorted(set(new.versions) - set(old.versions))
    gone = sorted(set(old.versions) - set(new.versions))
    return [f"symbol version {v}: needed by the new build only" for v in come] + [
        f"symbol version {v}: needed by the old build only" for v in gone
    ]


def _loader(old: FileTraits, new: FileTraits) -> list[str]:
    if old.interpreter == new.interpreter or not (old.interpreter and new.interpreter):
        return []
    return [f"program interpreter: {old.interpreter}, now {new.interpreter}"]


def _summary(
    allocators: list[str],
    come: list[str],
    gone: list[str],
    renamed: list[tuple[str, str]],
    versions: list[str],
    loader: list[str],
) -> str:
    parts = []
    if come:
        parts.append(f"the new build is linked with {', '.join(map(quoted, come))}")
    if gone:
        parts.append(f"{', '.join(map(quoted, gone))} {'is' if len(gone) == 1 else 'are'} no longer linked")
    parts += [f"{quoted(a)} became {quoted(b)}" for a, b in renamed]
    if allocators:
        parts.append(allocators[0] if parts else f"the allocator changed ({allocators[0]})")
    if not parts:
        parts.append((versions or loader)[0])
    return "; ".join(parts)


def _with_its_allocator(builds: Builds, shown: str) -> tuple[str, ...]:
    old, new = builds.programs
    return f"rebuild {new} with the allocator of {old}", f"{builds.runs[1].timed}: {shown}"


def _confirm(builds: Builds, come: list[str], gone: list[str], allocators: list[str]) -> tuple[str, ...]:
    old, new = builds.programs
    run = builds.runs[1]
    brought, taken = (next(filter(allocator_of_library, names), "") for names in (come, gone))
    if brought:
        edit = f"--replace-needed {brought} {taken}" if taken else f"--remove-needed {brought}"
        return (
            f"cp {builds.new.image.path} new-without",
            f"patchelf {edit} new-without",
            f"{run.timed_as('./new-without')}: as fast as the old build",
        )
    if come:
        return run.recorded(), f"{run.report} --sort dso: time in {come[0]} that {old} does not spend there"
    if gone:
        before = "" if run.process else f"LD_PRELOAD={gone[0]} "
        behind = f"LD_PRELOAD={gone[0]} {new}" if run.process else new
        return (f"{before}{run.timed_as(behind)}: as fast as the old build",)
    if allocators:
        return _with_its_allocator(builds, "as fast as the old build")
    return (f"{run.timed} on a machine with the libraries that {old} was built with: as fast as the old build",)
