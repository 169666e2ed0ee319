"""Indexes that come from thread-local storage are the running thread's own, others are not."""

from __future__ import annotations

import pytest

from elfscan.code.accessplan import start_scan
from elfscan.image import read_images
from sharing.model import AccessKind, SiteFlag
from sharing.model.image import Table
from tests.access.conftest import Build
from tests.access.elfplan import read_elf

OWN = ("by_number", "by_member", "by_masked", "by_call", "by_spilled")
OTHERS = ("by_shared", "by_argument", "of_nobody", "by_hash", "by_other_call", "set_up")
GIVEN = "by_given"  # where two ways meet: without optimization they meet in memory


def flags_of(compiler: str) -> tuple[str, ...]:
    """An address that a callee is known to leave in its register is not followed across the call."""
    return ("-fno-ipa-ra",) if compiler.startswith("gcc") else ()


def own_indexes(sites: Table, at: int, size: int) -> list[bool]:
    """Of accesses to elements of an array at a computed index: is that the thread's own?"""
    here = sites[(sites["kind"] != AccessKind.ADDRESS) & (sites["target"] >= at) & (sites["target"] < at + size)]
    return [bool(f & SiteFlag.OWN) for f in here["flags"][(here["flags"] & SiteFlag.INDEXED) != 0].tolist()]


@pytest.mark.parametrize("compiler", ["gcc-x86-64", "clang-x86-64", "gcc-aarch64", "clang-aarch64", "gcc-riscv64"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_own_are_indexes_from_storage_of_the_thread(build: Build, compiler: str, level: str) -> None:
    elf = read_elf(build(compiler, "corpus/own.c", level, "-fno-inline", *flags_of(compiler)))
    sites = start_scan(elf.plan).result().sites

    def flags(name: str) -> list[bool]:
        at, size = elf.objects[name]
        return own_indexes(sites, at, size)

    own = [*OWN, *([GIVEN] if level == "-O2" else [])]
    assert {name: (bool(flags(name)), all(flags(name))) for name in own} == dict.fromkeys(own, (True, True))
    assert {name: any(flags(name)) for name in OTHERS} == dict.fromkeys(OTHERS, False)


@pytest.mark.parametrize(
    ("compiler", "flags"),
    [
        ("gcc-x86-64", ()),
        ("gcc-x86-64", ("-mtls-dialect=gnu2",)),
        ("gcc-x86-64", ("-fno-plt",)),
        ("gcc-aarch64", ()),
        ("gcc-riscv64", ()),
    ],
)
def test_in_shared_objects_the_threads_storage_is_behind_calls_and_descriptors(
    build: Build, compiler: str, flags: tuple[str, ...]
) -> None:
    path = build(compiler, "shared/own.c", "-O2", "-fPIC", "-shared", *flags)
    image = next(iter(read_images(path)))
    arrays = {image.names[v["name"]]: (int(v["address"]), int(v["size"])) for v in image.variables}
    found = {name: own_indexes(image.sites, *arrays[name]) for name in arrays if name.startswith("by_")}
    mixed = {name: (bool(flags), all(flags)) for name, flags in found.items()}
    others = ("by_shared", "by_result")
    assert mixed == {name: (True, name not in others) for name in found}


@pytest.mark.parametrize("compiler", ["gcc-x86-64", "clang-x86-64", "gcc-aarch64", "clang-aarch64", "gcc-riscv64"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_elements_of_threads_are_as_far_apart_as_their_own_index_says(build: Build, compiler: str, level: str) -> None:
    elf = read_elf(build(compiler, "shared/ownrecords.c", level, "-fno-inline", *flags_of(compiler)))
    sites = start_scan(elf.plan).result().sites
    sites = sites[(sites["kind"] != AccessKind.ADDRESS) & ((sites["flags"] & SiteFlag.INDEXED) != 0)]

    def found(name: str) -> set[tuple[int, bool]]:
        at, size = elf.objects[name]
        here = sites[(sites["target"] >= at) & (sites["target"] < at + size)]
        return {(int(s["stride"]), bool(s["flags"] & SiteFlag.OWN)) for s in here}

    # The other index chooses in the record of a thread, or among rows in which each thread has an element.
    assert {name: found(name) for name in ("records", "packed", "rows", "both")} == {
        "records": {(64, True)},
        "packed": {(16, True)},
        "rows": {(8, True)},
        "both": {(64, True)},  # nobody else has that record, whichever part is chosen
    }
    assert found("of_all") == {(8, False)}  # no index is a thread's: any element is as near as the next
