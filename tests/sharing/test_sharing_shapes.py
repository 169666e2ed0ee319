"""Where the locks and leaves of a type are: through wrappers, members, arrays, unions and nonsense."""

from __future__ import annotations

import pytest

from sharing.knowledge import Knowledge, LockAbi, LockRow, default_knowledge
from sharing.model import ImageKind, TypeKind, TypeMember, TypeRecord, Vocabulary
from sharing.static.shapes import MAX_LOCKS, LockMember, Shapes
from tests.builders.image import Builder


def shapes(b: Builder, knowledge: Knowledge | None = None) -> Shapes:
    return Shapes(b.image(), knowledge or default_knowledge())


def locks(b: Builder, row: int) -> list[tuple[str, int, int]]:
    """(path, offset, size) of the locks in a type."""
    return [(place.path, place.offset, place.size) for place in shapes(b).locks(row)]


def mutex(b: Builder) -> int:
    """pthread_mutex_t as debug information has it: a typedef of a union around __pthread_mutex_s."""
    inner = b.struct("__pthread_mutex_s", 40, ("__lock", 0, b.base("int", 4)))
    text = b.array(b.base("char", 1), 40)
    return b.typedef(
        "pthread_mutex_t", b.struct("", 40, ("__data", 0, inner), ("__size", 0, text), kind=TypeKind.UNION)
    )


def test_a_lock_by_its_own_name() -> None:
    b = Builder()
    row = mutex(b)
    (place,) = shapes(b).locks(row)
    assert (place.path, place.size, place.hot, place.read) == ("", 40, ((0, 16),), ((16, 20),))
    assert place.type_name == "pthread_mutex_t"


def test_typedefs_and_qualifiers_are_seen_through() -> None:
    b = Builder()
    row = b.typedef("my_lock_t", b.volatile(b.typedef("other_t", mutex(b))))
    assert locks(b, row) == [("", 0, 40)]


def test_a_member_of_a_member() -> None:
    b = Builder()
    word = b.base("long", 8)
    cache = b.struct("cache", 64, ("generation", 0, word), ("guard", 16, b.struct("guard", 48, ("m", 8, mutex(b)))))
    assert locks(b, cache) == [("guard.m", 24, 40)]


def test_base_classes_add_no_name() -> None:
    b = Builder()
    base = b.struct("__mutex_base", 40, ("_M_mutex", 0, mutex(b)))
    b.types.append(TypeRecord(TypeKind.CLASS, "Own", 48, 0, -1, -1, (TypeMember("", 64, base, 0, True),), -1, 0))
    assert locks(b, len(b.types) - 1) == [("", 8, 40)]


def test_a_wrapper_that_is_known_itself_is_one_lock_with_all_its_bytes() -> None:
    b = Builder()
    row = b.struct("mysql_mutex_t", 48, ("m_mutex", 0, mutex(b)), ("m_psi", 40, b.pointer(b.base("void", 0))))
    (place,) = shapes(b).locks(row)
    assert (place.path, place.size, place.read) == ("", 48, ((16, 20), (40, 48)))


def test_a_known_wrapper_without_known_bytes_is_looked_into() -> None:
    b = Builder()
    row = b.struct("boost::shared_mutex", 40, ("m", 0, mutex(b)))
    assert locks(b, row) == [("m", 0, 40)]


def test_a_known_lock_that_hides_its_bytes_is_hot_all_over() -> None:
    b = Builder()
    row = b.struct("std::latch", 4, ("word", 0, b.base("unsigned", 4)))
    (place,) = shapes(b).locks(row)
    assert (place.size, place.hot) == (4, ((0, 4),))


def test_a_type_smaller_than_the_lock_of_that_name_is_another_type() -> None:
    """A project's own 8-byte ``mtx_t`` has none of glibc's byte ranges."""
    b = Builder()
    row = b.struct("mtx_t", 8, ("word", 0, b.base("long", 8)))
    (place,) = shapes(b).locks(row)
    assert (place.size, place.hot) == (8, ((0, 8),))


def test_a_pointer_to_a_lock_is_no_lock() -> None:
    b = Builder()
    lock = mutex(b)
    assert locks(b, b.pointer(lock)) == []
    assert locks(b, b.struct("user", 8, ("lock", 0, b.pointer(lock)))) == []
    assert locks(b, b.typedef("pthread_mutex_t", b.pointer(b.base("int", 4)))) == []


class TestArrays:
    def test_a_series_of_locks_is_one_place(self) -> None:
        b = Builder()
        (place,) = shapes(b).locks(b.array(mutex(b), 16))
        assert (place.path, place.offset, place.stride, place.count) == ("[]", 0, 40, 16)

    def test_of_records(self) -> None:
        b = Builder()
        shard = b.struct("shard", 64, ("size", 0, b.base("long", 8)), ("lock", 8, mutex(b)))
        table = b.struct("table", 8 + 64 * 4, ("head", 0, b.base("long", 8)), ("shards", 8, b.array(shard, 4)))
        (place,) = shapes(b).locks(table)
        assert (place.path, place.offset, place.stride, place.count) == ("shards[].lock", 16, 64, 4)


def test_all_arms_of_a_union_are_listed() -> None:
    b = Builder()
    spin = b.typedef("pthread_spinlock_t", b.volatile(b.base("int", 4)))
    row = b.struct("either", 48, ("m", 0, mutex(b)), ("s", 8, spin), kind=TypeKind.UNION)
    assert locks(b, row) == [("m", 0, 40), ("s", 8, 4)]


def test_bit_fields_hold_no_locks() -> None:
    b = Builder()
    spin = b.typedef("pthread_spinlock_t", b.base("int", 4))
    b.types.append(TypeRecord(TypeKind.STRUCT, "odd", 4, 0, -1, -1, (TypeMember("s", 0, spin, 3, False),), -1, 0))
    assert locks(b, len(b.types) - 1) == []


def test_kernel_locks_are_found_in_kernel_images() -> None:
    b = Builder(ImageKind.KERNEL)
    raw = b.typedef("raw_spinlock_t", b.struct("raw_spinlock", 4, ("val", 0, b.base("unsigned", 4))))
    row = b.typedef("spinlock_t", b.struct("spinlock", 4, ("rlock", 0, raw)))
    (place,) = shapes(b).locks(row)
    assert (place.type_name, place.hot) == ("spinlock_t", ((0, 4),))


def test_a_project_row_wins_over_the_built_in_one() -> None:
    own = LockRow("pthread_mutex_t", abi={"any": LockAbi(40, ((4, 8),))})
    b = Builder()
    row = mutex(b)
    (place,) = shapes(b, Knowledge(Vocabulary(lock=(own,)))).locks(row)
    assert place.hot == ((4, 8),)


class TestHostileTypes:
    @pytest.mark.parametrize("kind", [TypeKind.STRUCT, TypeKind.ARRAY, TypeKind.TYPEDEF, TypeKind.VOLATILE])
    def test_a_type_that_contains_itself_ends(self, kind: TypeKind) -> None:
        b = Builder()
        b.types.append(TypeRecord(kind, "loop", 64, 0, 0, 2, (TypeMember("next", 0, 0, 0, False),), -1, 0))
        assert locks(b, 0) == []
        assert len(b.image().types.flatten(0)) <= 1

    def test_two_types_that_contain_each_other_twice_end(self) -> None:
        b = Builder()
        for other in (1, 0):
            members = tuple(TypeMember(f"m{i}", 0, other, 0, False) for i in range(2))
            b.types.append(TypeRecord(TypeKind.STRUCT, "pthread_mutex_t", 8, 0, -1, -1, members, -1, 0))
        assert len(locks(b, 0)) <= MAX_LOCKS

    @pytest.mark.parametrize("row", [-1, -(2**31), 5, 2**31 - 1])
    def test_a_row_that_does_not_exist_has_nothing(self, row: int) -> None:
        b = Builder()
        b.base("int", 4)
        assert locks(b, row) == []
        assert shapes(b).leaf(row, 0) is None

    def test_more_locks_than_any_program_has_are_cut(self) -> None:
        b = Builder()
        lock = mutex(b)
        row = b.struct("many", 40 * 1000, *((f"m{i}", 40 * i, lock) for i in range(1000)))
        assert len(locks(b, row)) == MAX_LOCKS


class TestLeaves:
    def test_the_member_that_covers_an_offset(self) -> None:
        b = Builder()
        row = b.struct("pair", 16, ("key", 0, b.base("int", 4)), ("value", 8, b.base("long", 8)))
        found = shapes(b)
        assert [leaf.path if (leaf := found.leaf(row, at)) else None for at in (0, 3, 4, 8, 15, 16)] == [
            "key",
            "key",
            None,
            "value",
            "value",
            None,
        ]

    def test_an_element_of_a_series(self) -> None:
        b = Builder()
        pair = b.struct("pair", 16, ("key", 0, b.base("int", 4)), ("value", 8, b.base("long", 8)))
        row = b.array(pair, 4)
        found = shapes(b)
        assert [leaf.path if (leaf := found.leaf(row, at)) else None for at in (0, 16, 40, 20, 56, 64)] == [
            "[].key",
            "[].key",
            "[].value",
            None,
            "[].value",
            None,
        ]


def test_places_are_remembered() -> None:
    b = Builder()
    row = mutex(b)
    found = shapes(b)
    assert found.locks(row) is found.locks(row)
    assert isinstance(found.locks(row)[0], LockMember)
