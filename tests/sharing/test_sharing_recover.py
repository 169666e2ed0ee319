"""Objects of stripped images: bytes that code touches or locks become objects, nothing else does."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharing.knowledge import default_knowledge
from sharing.model import AccessKind, Image, ImageKind, SectionKind, VariableFlag
from sharing.static import correlate, flow
from sharing.static.recover import recover
from tests.builders.image import AARCH64, BSS, DATA, SECTION_BYTES, Address, Builder

END = BSS + SECTION_BYTES


def recovered(b: Builder) -> Image:
    image, knowledge = b.image(), default_knowledge()
    return recover(image, correlate.all_sites(image, knowledge), flow.lock_events(image, knowledge), knowledge)


def objects(b: Builder) -> list[tuple[str, int, int]]:
    """(name, address, size) of the recovered objects, by address."""
    image = recovered(b)
    return [
        (image.names[v["name"]], int(v["address"]), int(v["size"]))
        for v in image.variables
        if v["flags"] & VariableFlag.RECOVERED
    ]


def test_touched_bytes_are_an_object_named_by_its_section() -> None:
    b = Builder()
    b.function("f").store(BSS + 0x40, 8).load(DATA + 0x10, 4)
    assert objects(b) == [("data+0x10", DATA + 0x10, 4), ("bss+0x40", BSS + 0x40, 8)]


def test_neighbours_that_do_not_overlap_stay_apart() -> None:
    b = Builder()
    b.function("f").store(BSS, 8).store(BSS + 8, 8)
    assert [size for _, _, size in objects(b)] == [8, 8]


def test_overlapping_accesses_are_one_object() -> None:
    b = Builder()
    b.function("f").store(BSS, 8).load(BSS + 4, 8).load(BSS + 2, 1)
    assert objects(b) == [("bss+0x0", BSS, 12)]


@pytest.mark.parametrize(
    ("callee", "size", "kind"),
    [
        ("pthread_mutex_lock", 40, "mutex"),
        ("pthread_rwlock_wrlock", 56, "rwlock"),
        ("pthread_spin_lock", 4, "spinlock"),
        ("pthread_cond_signal", 48, "condition variable"),
        ("sem_post", 32, "semaphore"),
        ("pthread_barrier_wait", 32, "barrier"),
    ],
)
def test_a_lock_has_the_extent_of_its_abi(callee: str, size: int, kind: str) -> None:
    b = Builder()
    b.function("f").call(callee, Address(BSS + 0x80))
    assert objects(b) == [(f"bss+0x80 ({kind})", BSS + 0x80, size)]


def test_a_mutex_is_longer_on_aarch64() -> None:
    b = Builder(arch=AARCH64)
    b.function("f").call("pthread_mutex_lock", Address(BSS))
    assert objects(b) == [("bss+0x0 (mutex)", BSS, 48)]


def test_musl_has_its_own_extents() -> None:
    b = Builder(needed=("libc.musl-x86_64.so.1",))
    b.function("f").call("pthread_rwlock_rdlock", Address(BSS))
    assert objects(b) == [("bss+0x0 (rwlock)", BSS, 56)]


def test_the_kernel_has_its_own_locks() -> None:
    b = Builder(ImageKind.KERNEL)
    b.function("f").call("mutex_lock", Address(BSS))
    assert objects(b) == [("bss+0x0 (mutex)", BSS, 32)]


def test_initialising_tells_of_a_lock_too() -> None:
    b = Builder()
    b.function("f").call("pthread_mutex_init", Address(BSS))
    assert objects(b) == [("bss+0x0 (mutex)", BSS, 40)]


def test_the_guard_of_a_functions_static_is_a_once_flag() -> None:
    b = Builder()
    b.function("f").load(BSS + 0x10, 1).call("__cxa_guard_acquire", Address(BSS + 0x10))
    assert objects(b) == [("bss+0x10 (once flag)", BSS + 0x10, 8)]


def test_what_another_call_is_handed_is_no_once_flag() -> None:
    b = Builder()
    b.function("f").load(BSS + 0x10, 1).call("__cxa_atexit", Address(BSS + 0x10))
    assert objects(b) == [("bss+0x10", BSS + 0x10, 1)]


def test_releasing_alone_does_not() -> None:
    b = Builder()
    b.function("f").call("pthread_mutex_unlock", Address(BSS))
    assert objects(b) == []


def test_an_access_into_a_lock_does_not_stretch_it() -> None:
    b = Builder()
    b.function("f").call("pthread_mutex_lock", Address(BSS)).load(BSS + 36, 16)
    assert objects(b) == [("bss+0x0 (mutex)", BSS, 40)]


def test_an_indexed_access_claims_one_element() -> None:
    b = Builder()
    b.function("f").access(AccessKind.STORE, BSS, 4, stride=24)
    assert objects(b) == [("bss+0x0", BSS, 24)]


def test_an_address_that_is_only_computed_is_no_object() -> None:
    b = Builder()
    b.function("f").access(AccessKind.ADDRESS, BSS, 0)
    assert objects(b) == []


def test_nothing_reaches_over_the_end_of_its_section() -> None:
    b = Builder()
    b.function("f").store(END - 4, 8).call("pthread_mutex_lock", Address(DATA + SECTION_BYTES - 16))
    assert [(at, size) for _, at, size in objects(b)] == [(DATA + SECTION_BYTES - 16, 16), (END - 4, 4)]


def test_nothing_is_made_outside_writable_sections() -> None:
    b = Builder()
    b.section(".rodata", SectionKind.CONSTANT, 0x50000, 0x1000)
    b.section(".data.rel.ro", SectionKind.RELRO, 0x60000, 0x1000)
    b.section(".data..percpu", SectionKind.PERCPU, 0x70000, 0x1000)
    body = b.function("f")
    for address in (0, 0x1000, 0x50000, 0x60000, 0x70000, BSS - 8, END, 2**64 - 8):
        body.store(address, 8)
    assert objects(b) == []


def test_named_variables_keep_their_bytes() -> None:
    b = Builder()
    b.variable("known", 16, BSS + 32)
    b.function("f").store(BSS + 32, 8).store(BSS + 40, 4).store(BSS + 28, 16).call("sem_post", Address(BSS + 16))
    assert [(at, at + size) for _, at, size in objects(b)] == [(BSS + 16, BSS + 32)]


def test_known_variables_stay_in_order_and_keep_their_aliases() -> None:
    b = Builder()
    b.variable("known", 16, BSS + 32)
    b.function("f").store(BSS, 8).store(BSS + 64, 8)
    image = recovered(b)
    assert [image.names[v["name"]] for v in image.variables] == ["bss+0x0", "known", "bss+0x40"]
    assert image.counts["objects_recovered"] == 2


def test_an_image_that_is_touched_nowhere_stays_as_it_is() -> None:
    b = Builder()
    b.variable("known", 16)
    b.function("f").store("known")
    assert objects(b) == []


LOCKS = ("pthread_mutex_lock", "pthread_spin_lock", "sem_wait", "pthread_cond_signal")
PLACES = st.integers(-32, 192)
TOUCHES = st.lists(st.tuples(PLACES, st.sampled_from([1, 2, 4, 8, 16, 64])), max_size=12)
TAKEN = st.lists(st.tuples(PLACES, st.sampled_from(LOCKS)), max_size=4)
KNOWN = st.lists(st.tuples(st.integers(0, 24), st.integers(1, 3)), max_size=3)


@given(TOUCHES, TAKEN, KNOWN, st.booleans())
def test_objects_are_disjoint_and_stay_in_their_section(
    touches: list[tuple[int, int]], taken: list[tuple[int, str]], known: list[tuple[int, int]], at_end: bool
) -> None:
    """Whatever code touches, in whatever order: also across the section's start and end."""
    base = END - 128 if at_end else BSS
    b = Builder()
    free = 0
    for i, (place, words) in enumerate(sorted(known)):
        if place >= free:
            b.variable(f"known{i}", 8 * words, BSS + 8 * place)
            free = place + words
    body = b.function("f")
    for offset, size in touches:
        body.store(base + offset, size)
    for offset, callee in taken:
        body.call(callee, Address(base + offset))
    image = recovered(b)
    spans = [(int(v["address"]), int(v["address"] + v["size"])) for v in image.variables]
    assert spans == sorted(spans)
    for (_, end), (start, _) in itertools.pairwise(spans):
        assert end <= start
    assert all(BSS <= start < end <= END for start, end in spans if start >= BSS)
    for offset, _ in touches:
        if BSS <= base + offset < END:
            assert any(start <= base + offset < end for start, end in spans), "a touched byte has no object"
