"""Calls through pointers: whom they call is told by where the pointer is kept."""

from __future__ import annotations

import dataclasses

import msgspec
import numpy as np
import pytest

from sharing.model import FunctionFlag, Image, SectionKind
from sharing.model.image import HELD_DTYPE, WORD_DTYPE, SlotKind
from sharing.static.callees import handed_over
from sharing.static.pointercalls import KeptFunctions
from tests.builders.image import Builder, Param

TAKEN = FunctionFlag.ADDRESS_TAKEN
TABLE = 0x40000


def resolved(b: Builder) -> set[tuple[str, str]]:
    """(caller, callee) of calls through pointers that are as good as direct ones."""
    image = b.image()
    return {
        (image.names[call["function"]], name_at(image, int(call["callee"]))) for call in KeptFunctions(image).resolved
    }


def name_at(image: Image, address: int) -> str:
    return image.names[int(np.flatnonzero(image.functions["address"] == address)[0])]


def at(image: Image, place: SlotKind, where: int) -> set[str]:
    key = place << 40 | where
    return {image.names[row] for row in KeptFunctions(image).at([key])[key]}


def test_a_static_variable_holds_what_is_stored_in_it_also_by_a_setter() -> None:
    b = Builder()
    hook = b.variable("hook", 8)
    b.function("main").call("set_hook", "first").keep("second", SlotKind.STATIC, hook)
    b.function("set_hook").keep(Param(0), SlotKind.STATIC, hook)
    b.function("serve").call(None, slot=(SlotKind.STATIC, hook))
    for name in ("first", "second", "third"):
        b.function(name, TAKEN)
    assert resolved(b) == {("serve", "first"), ("serve", "second")}


def test_an_argument_that_is_called_is_what_callers_hand_over_through_wrappers_too() -> None:
    b = Builder()
    b.function("main").call("each", None, "visit")
    b.function("each").call("walk", Param(1))
    b.function("walk").call(None, slot=(SlotKind.ARGUMENT, 0))
    b.function("visit", TAKEN)
    b.function("other", TAKEN)
    assert resolved(b) == {("walk", "visit")}


def test_a_call_of_an_argument_takes_turns_with_all_that_are_handed_over() -> None:
    b = Builder()
    main = b.function("main")
    for number in range(4):
        main.call("walk", f"visit{number}")
    b.function("walk").call(None, slot=(SlotKind.ARGUMENT, 0))
    for number in range(4):
        b.function(f"visit{number}", TAKEN)
    image = b.image()
    assert KeptFunctions(image).resolved["rarity"].tolist() == [8] * 4, "a quarter each"


def test_a_call_through_a_record_is_none_of_a_function_for_sure() -> None:
    b = Builder()
    b.function("main").keep("task", SlotKind.RECORD, 8).call(None, slot=(SlotKind.RECORD, 8))
    b.function("task", TAKEN)
    assert resolved(b) == set()
    assert at(b.image(), SlotKind.RECORD, 8) == {"task"}


def test_what_is_stored_elsewhere_is_not_there() -> None:
    b = Builder()
    b.function("main").keep("task", SlotKind.RECORD, 8).keep("handler", SlotKind.RECORD, 24)
    b.function("task", TAKEN)
    b.function("handler", TAKEN)
    assert at(b.image(), SlotKind.RECORD, 16) == set()


def table(b: Builder, *slots: int, pointed: tuple[int, ...] = (), virtual: tuple[int, ...] = ()) -> Image:
    """The functions of the image, one after another, at these distances from ``TABLE``."""
    b.section(".data.rel.ro", SectionKind.RELRO, TABLE, 0x1000)
    image = b.image()
    words = np.zeros(len(slots), WORD_DTYPE)
    words["slot"], words["value"] = TABLE + np.array(slots), image.functions["address"][: len(slots)]
    begins = {"pointed": pointed, "virtual_tables": virtual}
    more = {name: np.array([TABLE + offset for offset in found], np.uint64) for name, found in begins.items()}
    return dataclasses.replace(image, code_words=words, **more)


def functions(*names: str) -> Builder:
    b = Builder()
    for name in names:
        b.function(name, TAKEN)
    return b


def test_functions_of_a_table_are_so_far_behind_what_somebody_points_to() -> None:
    image = table(functions("open", "close"), 0x10, 0x28, pointed=(0, 0x20))
    assert at(image, SlotKind.RECORD, 0x10) == {"open"}
    assert at(image, SlotKind.RECORD, 0x28) == {"close"}, "behind the first begin"
    assert at(image, SlotKind.RECORD, 0x8) == {"close"}, "behind the second"
    assert at(image, SlotKind.RECORD, 0x18) == set()


@pytest.mark.parametrize(
    ("records", "begin", "found"),
    [
        pytest.param(True, 0, {"one", "two", "three"}, id="an array of records"),
        pytest.param(True, 0x10, {"two"}, id="of which one element alone is pointed to"),
        pytest.param(False, 0, {"one"}, id="one record, which has more of them further on"),
    ],
)
def test_a_pointer_to_an_array_of_records_leads_to_any_of_them(records: bool, begin: int, found: set[str]) -> None:
    """Whose address code takes it adds an index to."""
    b = functions("one", "two", "three")
    word = b.pointer(-1)
    stage = b.struct("stage", 0x10, ("name", 0, word), ("run", 8, word))
    many = b.struct("stages", 0x30, *[(f"at{n}", n, word) for n in range(0, 0x30, 8)])
    b.variable("stages", 0x30, TABLE, type=b.array(stage, 3) if records else many)
    assert at(table(b, 8, 0x18, 0x28, pointed=(begin,)), SlotKind.RECORD, 8) == found


def test_an_array_of_records_may_be_in_the_upper_half_of_all_addresses() -> None:
    """As of a kernel, whose image has debug information."""
    upper, b = 0xFFFFFFFF82000000, functions("one", "two")
    b.section(".data", SectionKind.WRITABLE, upper, 0x1000)
    word = b.pointer(-1)
    b.variable("stages", 0x20, upper, type=b.array(b.struct("stage", 0x10, ("name", 0, word), ("run", 8, word)), 2))
    image = b.image()
    words = np.zeros(2, WORD_DTYPE)
    words["slot"], words["value"] = np.array([upper + 8, upper + 0x18], np.uint64), image.functions["address"][:2]
    image = dataclasses.replace(image, code_words=words, pointed=np.array([upper], np.uint64))
    assert at(image, SlotKind.RECORD, 8) == {"one", "two"}


@pytest.mark.parametrize("virtual", [True, False])
def test_virtual_functions_have_one_distance(virtual: bool) -> None:
    """The begin of the next object is none of theirs, wherever it is."""
    image = table(functions("one", "two"), 0x10, 0x18, pointed=(0,), virtual=(0x10,) if virtual else ())
    assert at(image, SlotKind.RECORD, 8) == ({"two"} if virtual else set())
    assert at(image, SlotKind.RECORD, 0x18) == (set() if virtual else {"two"})


def registering(*handed: str, place: int = 0x40) -> Builder:
    """``register`` stores its second argument, each of these functions in turn; ``serve`` calls what is there."""
    b = Builder()
    main = b.function("main")
    for name in handed:
        main.call("register", None, name)
    b.function("register").keep(Param(1), SlotKind.RECORD, place)
    b.function("serve").call(None, slot=(SlotKind.RECORD, place))
    for name in ("on_data", "on_end"):
        b.function(name, TAKEN)
    return b


def test_a_callback_that_is_registered_alone_is_what_is_called_there() -> None:
    assert resolved(registering("on_data")) == {("serve", "on_data")}


def test_so_is_one_that_a_wrapper_registers() -> None:
    b = Builder()
    b.function("main").call("open", "on_data")
    b.function("open").call("register", None, Param(0))
    b.function("register").keep(Param(1), SlotKind.RECORD, 0x40)
    b.function("serve").call(None, slot=(SlotKind.RECORD, 0x40))
    b.function("on_data", TAKEN)
    image = b.image()
    assert {image.names[row] for row in KeptFunctions(image).registered()[0]} == {"on_data"}
    assert resolved(b) == set(), "who else calls the wrapper's callee with what is not looked at"


def test_of_two_that_are_registered_it_is_one_or_the_other() -> None:
    b = registering("on_data", "on_end")
    assert resolved(b) == set()
    assert {b.image().names[row] for row in KeptFunctions(b.image()).registered()[0]} == {"on_data", "on_end"}


@pytest.mark.parametrize("more", ["unknown", "stored", "called", "taken"])
def test_a_callback_of_which_more_is_done_or_that_may_be_another_is_none(more: str) -> None:
    b = registering("on_data")
    other = b.function("other")
    if more == "unknown":
        other.call("register", None, None)
    elif more == "stored":
        other.keep("on_end", SlotKind.RECORD, 0x40)
    elif more == "called":
        other.call("run", "on_data")
        b.function("run").call(None, slot=(SlotKind.ARGUMENT, 0))
    else:
        other.keep("on_data", SlotKind.UNKNOWN, 0)
    assert ("serve", "on_data") not in resolved(b)


def test_what_stands_in_a_record_on_the_stack_that_is_handed_over_is_handed_over() -> None:
    """To a function of this image: what a library is handed, as the handler of a signal, no pool is."""
    b = Builder()
    b.function("main").call("post").call("sigaction")
    b.function("post")
    for name in ("task", "handler", "other"):
        b.function(name, TAKEN)
    image = b.image()
    passed = np.zeros(2, HELD_DTYPE)
    passed["ip"] = image.calls["ip"]
    passed["what"] = [int(image.functions["address"][row_of(image, name)]) for name in ("task", "handler")]
    behind = msgspec.structs.replace(image.behind, passed=passed)
    found = handed_over(dataclasses.replace(image, behind=behind))
    assert {image.names[name] for name in image.functions["name"][found].tolist()} == {"task"}


def row_of(image: Image, name: str) -> int:
    return [image.names[one] for one in image.functions["name"].tolist()].index(name)
