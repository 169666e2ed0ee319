"""Suspect: the toolchain.  Another compiler, version, optimisation level, flag or linker.

Owns the reading of producer strings (DW_AT_producer) and .comment.  How a file was linked is ``linking``'s.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from sharing.explain import numbers
from sharing.explain.causes import linking
from sharing.explain.causes.base import Builds, Verdicts
from sharing.explain.causes.flags import FlagChange, as_in, changed_flags, higher_level, of_lto_step
from sharing.model.comparison import Cause, CauseKind, FileTraits, RuledOut
from sharing.model.finding import Confidence
from sharing.model.image import Image, ImageKind

# What follows from each: another compilation changes code and with it all that lies behind it, another link places.
_LINKED = frozenset({CauseKind.LAYOUT})
_COMPILED = _LINKED | {CauseKind.CODE, CauseKind.DEPENDENCY}
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?")
_LEVELS = re.compile(r"-O(?:\d|s|z|g|fast)?$")
_FAMILIES = (("clang", "clang"), ("GNU", "gcc"), ("GCC", "gcc"), ("rustc", "rustc"), ("Go cmd", "go"), ("Intel", "icc"))
# Flags that say where a file was, or how much is described, and change no code.
_NEUTRAL = ("-g", "-I", "-D", "-U", "-f*-prefix-map", "-ffile-prefix-map", "-fdebug-prefix-map", "-fmacro-prefix-map",
            "-fdiagnostics", "-W", "-frandom-seed", "-o", "-M", "-dumpbase", "-dumpdir", "-auxbase")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Producer:
    """A producer string taken apart."""

    family: str
    version: str
    level: str
    flags: frozenset[str]

    @property
    def recorded(self) -> bool:
        """Whether the compiler left its flags: .comment holds none, and of gcc debug information only."""
        return bool(self.level or self.flags)


Weighed = tuple[float, str]  # strength, and the words


def ask(builds: Builds) -> Verdicts:
    """One cause for all that differs.  Without producer strings only .comment speaks, and says so."""
    old, new = builds.old.image, builds.new.image
    before, after = _comparable(builds)
    if not before or not after:
        which = " and ".join(p for p, found in ((old.path, before), (new.path, after)) if not found)
        return Verdicts(notes=(f"toolchain: nothing in {which} says what built it",))
    one, other = _leading(before), _leading(after)
    evidence, better, flags = _compiled(one, other)
    compiled = bool(evidence or better)
    linked = linking.changes(builds.old_traits, builds.new_traits)
    if merged_alike(builds):
        linked += linking.order_of_units(builds.variables)
    evidence += linked
    if not evidence and not better:
        return _nothing_differs(builds, one)
    causes = []
    for found, improves in ((evidence, False), (better, True)):
        if not found:
            continue
        found = sorted(dict.fromkeys(found), key=lambda item: -item[0])
        mine = [f for f in flags if f.improves == improves]
        as_old, as_new = _spelled(one) + as_in(mine, new=False), _spelled(other) + as_in(mine, new=True)
        fast = f"as {'slow' if improves else 'fast'} as {old.path}"
        causes.append(
            Cause(
                kind=CauseKind.TOOLCHAIN,
                confidence=Confidence.STATIC,
                strength=found[0][0],
                summary="; ".join(text for _, text in found[:3]),
                evidence=tuple(text for _, text in found[:24]),
                improves=improves,
                confirm=(
                    f"build the new source with {as_old}"
                    if compiled
                    else "link the objects of the new build as the old one was",
                    f"{builds.runs[1].timed}: {fast}",
                ),
                refute=(
                    f"build the old source with {as_new}"
                    if compiled
                    else "link the objects of the old build as the new one was",
                    f"{builds.runs[0].timed}: {fast}",
                ),
            )
        )
    return Verdicts(tuple(causes), reach=_COMPILED if compiled else _LINKED)


def _compiled(one: Producer, other: Producer) -> tuple[list[Weighed], list[Weighed], list[FlagChange]]:
    """What compiles another way: what may make it slower, what may make it faster, and the flags of both."""
    evidence: list[Weighed] = []
    better: list[Weighed] = []
    flags: list[FlagChange] = []
    if one.family != other.family:
        evidence.append(
            (numbers.OTHER_COMPILER, f"compiler: {one.family} {one.version}, now {other.family} {other.version}")
        )
    elif one.version != other.version:
        evidence.append((numbers.COMPILER_VERSION, f"compiler: {one.family} {one.version}, now {other.version}"))
    if one.level != other.level and one.level and other.level:
        side = better if higher_level(one.level, other.level) and one.family == other.family else evidence
        side.append((numbers.OTHER_LEVEL, f"optimisation level: {one.level}, now {other.level}"))
    if one.family == other.family and one.recorded and other.recorded:
        flags = changed_flags(one.flags, other.flags)
        for flag in flags:
            (better if flag.improves else evidence).append((numbers.LTO if flag.lto else numbers.OTHER_FLAG, flag.text))
    return evidence, better, flags


def _nothing_differs(builds: Builds, made: Producer) -> Verdicts:
    """The toolchain ruled out, as far as the files say what it was asked for, and by which linker."""
    by = f"both are built by {made.family} {made.version}"
    if not made.recorded:
        return Verdicts(notes=(f"toolchain: {by}; flags are not recorded",))
    levels = f" {made.level}" if made.level else ""
    same = f"{by}{levels} with the same flags"
    if builds.new.image.kind is ImageKind.RELOCATABLE and builds.old.image.kind is ImageKind.RELOCATABLE:
        return Verdicts(ruled_out=(RuledOut(CauseKind.TOOLCHAIN, same),))
    linker = builds.new_traits.linker
    if not linker or not builds.old_traits.linker:
        return Verdicts(notes=(f"toolchain: {same}; which linker wrote them is not known",))
    return Verdicts(ruled_out=(RuledOut(CauseKind.TOOLCHAIN, f"{same} and linked alike by {linker}"),))


def parse_producer(text: str) -> Producer:
    """A DW_AT_producer or .comment string: family, version, the last -O, and flags that change code."""
    family = next((name for mark, name in _FAMILIES if mark in text), text.partition(" ")[0] or "unknown")
    version = _VERSION.search(text)
    words = [w for w in text.split() if w.startswith("-")]
    levels = [w for w in words if _LEVELS.fullmatch(w)]
    flags = frozenset(w for w in words if not _LEVELS.fullmatch(w) and not w.startswith(_NEUTRAL))
    if "GNU GIMPLE" in text:
        flags = of_lto_step(flags)
    level = levels[-1] if levels else ("-O0" if words and family == "gcc" else "")
    return Producer(family, version.group() if version else "", level, flags)


def producers(image: Image, traits: FileTraits) -> Counter[Producer]:
    """What made a build, by the number of units; from .comment where no unit says."""
    found = Counter(u.producer for u in image.units if u.producer and not u.producer.startswith("GNU AS"))
    if not found:
        return _of_comments(traits)
    return Counter({parse_producer(text): number for text, number in found.items()})


def _comparable(builds: Builds) -> tuple[Counter[Producer], Counter[Producer]]:
    """What made each build, from what both have: where one lost its debug information, from .comment of both."""
    sides = ((builds.old.image, builds.old_traits), (builds.new.image, builds.new_traits))
    if sum(any(u.producer for u in image.units) for image, _ in sides) == 1:
        before, after = (_of_comments(traits) for _, traits in sides)
    else:
        before, after = (producers(image, traits) for image, traits in sides)
    return before, after


def _of_comments(traits: FileTraits) -> Counter[Producer]:
    return Counter(parse_producer(c) for c in traits.comments if not linking.is_linker(c))


def same_compiler(old: Image, old_traits: FileTraits, new: Image, new_traits: FileTraits) -> bool:
    """Whether nothing says that another compiler made the new build."""
    before, after = producers(old, old_traits), producers(new, new_traits)
    return not before or not after or _leading(before).family == _leading(after).family


def compiled_alike(builds: Builds) -> bool:
    """Whether nothing says that the units of one build were compiled otherwise than those of the other."""
    before, after = _comparable(builds)
    return not before or not after or _leading(before) == _leading(after)


def merged_alike(builds: Builds) -> bool:
    """Whether link-time optimisation, which drops what nobody uses, made both builds or neither."""
    lto = [any(flag.startswith("-flto") for p in found for flag in p.flags) for found in _comparable(builds)]
    return lto[0] == lto[1]


def _leading(found: Counter[Producer]) -> Producer:
    """The producer of most units; flags that all of its family's units have."""
    families = Counter[str]()
    for producer, number in found.items():
        families[producer.family] += number
    family = min(families, key=lambda name: (-families[name], name))
    mine = {p: n for p, n in found.items() if p.family == family}
    top = min(mine, key=lambda p: (-mine[p], p.version, p.level, sorted(p.flags)))
    return top


def _spelled(producer: Producer) -> str:
    return " ".join(w for w in (producer.family, producer.version, producer.level) if w)
