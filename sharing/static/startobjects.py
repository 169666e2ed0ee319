"""What thread entries find in the object that they are started with: a closure of C++, a record of arguments.

Owns the way from the words that a new object is given, where a thread is started with it, to what the thread does
behind these words: a closure's ``this`` is one object for all threads that one run of a function starts, and what a
loop makes of another element of an array in each round is an element for each thread.  Which functions are entries is
``starts``'s.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.columns import in_order
from sharing.basics.kept import Kept
from sharing.knowledge.threadclasses import thread_classes
from sharing.model.arrays import among, joined_by_ip, picked
from sharing.model.given import Given
from sharing.model.image import (
    HELD,
    HELD_ADDRESS_BITS,
    HELD_OFFSET_BITS,
    OWN_FRAME,
    WHOLE_ARGUMENT,
    WORD_ARG_BITS,
    WORD_HOLDER,
    WORD_NUMBER_BITS,
    ArgKind,
    Image,
    SiteFlag,
    Table,
)
from sharing.model.threadwords import is_own_word
from sharing.static import numbers
from sharing.static.callees import calls_of, function_at

_OFFSETS = (1 << HELD_OFFSET_BITS) - 1
_HOLDERS = (1 << HELD_ADDRESS_BITS) - 1
_WORD = (1 << WORD_NUMBER_BITS + WORD_ARG_BITS) - 1
_ADDRESSES = (1 << 64) - 1
_STEPS = 64  # what stands in a word, and above so many bits the bytes to what stands there in the next round of a loop

MAX_CLOSURE_WORDS = 16  # that are looked at of what a thread calls: few closures hold more
MAX_HANDED_ON = 4  # calls by which what a closure is made of is handed on: libraries have no more

_by_function: Kept[tuple[npt.NDArray[np.int64], Table]] = Kept()  # several passes ask, by the table of arguments
Words = dict[int, set[int]]  # by bytes into an object what is stored there


class _Started(msgspec.Struct, frozen=True):
    """A function that threads run, started with an object of these words."""

    entry: int  # row of the function
    maker: int  # row of the function that makes the object
    ip: int
    words: dict[int, int]  # by bytes into it: what, as of ``Given``, and its step
    stored: dict[int, int]  # the same before it is asked what callers of the maker hand over
    chosen: frozenset[int] = frozenset()  # functions of which one word has one or the other


def with_start_objects(image: Image) -> Image:
    """The image with what thread entries do behind words of the objects that they are started with."""
    found = _started(image)
    if not found:
        return image
    known = _known_words(image, found)
    given = (*image.given, *_given(image, found))
    image = with_words(image, known)
    behind = msgspec.structs.replace(image.behind, arrays=tuple(_arrays(image, found, given)))
    return dataclasses.replace(image, given=given, behind=behind)


def _arrays(image: Image, found: list[_Started], given: Iterable[Given]) -> dict[tuple[int, int, int], None]:
    """(holder, row of a function, bytes between elements) of arrays of which each thread has an element.

    The function is the one that the closure calls with it, or the closure's own.
    """
    arrays: dict[tuple[int, int, int], None] = {}
    handed = {(one.ip, one.data): one.entry for one in given if one.stride}
    for one in found:
        for what in one.words.values():
            if step_of(what) and what & int(HELD):
                entry = handed.get((one.ip, what & _ADDRESSES))
                row = one.entry if entry is None else int(function_at(image, np.array([entry], np.uint64))[0])
                arrays[holder_of(what), row, step_of(what)] = None
    return arrays


def with_words(image: Image, known: dict[int, int]) -> Image:
    """The image with what is done behind words of arguments, where these are known to lead (as of ``Given.data``)."""
    sites, steps = _placed(image.behind.word_sites, "target", known)
    stride = sites["stride"]
    sites["stride"] = np.where(steps, steps, stride)
    sites["flags"] |= np.where(steps, SiteFlag.INDEXED | SiteFlag.OWN, 0).astype(np.uint8)
    args, steps = _placed(image.behind.word_args, "value", known)
    source = args["source"]
    args["source"] = np.where(steps, steps, source)
    args["kind"] = ArgKind.ADDRESS
    heap_sites, heap_args = sites["target"] & HELD != 0, args["value"].astype(np.uint64) & HELD != 0
    behind = msgspec.structs.replace(
        image.behind,
        sites=joined_by_ip(image.behind.sites, sites[heap_sites]),
        args=joined_by_ip(image.behind.args, args[heap_args]),
    )
    return dataclasses.replace(
        image,
        sites=joined_by_ip(image.sites, sites[~heap_sites]),
        args=joined_by_ip(image.args, args[~heap_args]),
        behind=behind,
    )


def is_argument(holder: int) -> bool:
    """Whether this is the object that some run of a function was handed, which nothing tells apart from others."""
    whole = holder & WHOLE_ARGUMENT == WHOLE_ARGUMENT
    return bool(holder & WORD_HOLDER) and whole and not is_frame(holder) and not is_own_word(holder)


def is_frame(holder: int) -> bool:
    """Whether this is the frame of some run of a function."""
    frame = holder >> WORD_NUMBER_BITS & OWN_FRAME == OWN_FRAME
    return bool(holder & WORD_HOLDER) and frame and not is_own_word(holder)


def step_of(value: int) -> int:
    """Of what stands in a word, the bytes to what stands there in the next round of a loop; 0 the same."""
    return value >> _STEPS


def holder_of(value: int) -> int:
    """Of a value as of ``Given.data`` that is behind a pointer."""
    return value >> HELD_OFFSET_BITS & _HOLDERS


def offset_of(value: int) -> int:
    """Of a value as of ``Given.data`` that is behind a pointer, the bytes from where that leads to."""
    return value & _OFFSETS


def function_of(holder: int) -> int:
    """The row of the function whose argument it is."""
    return (holder & ~WORD_HOLDER) >> (WORD_NUMBER_BITS + WORD_ARG_BITS)


def number_of(holder: int) -> int:
    """Which argument it is, from 0."""
    return holder >> WORD_NUMBER_BITS & ((1 << WORD_ARG_BITS) - 1)


def _started(image: Image) -> list[_Started]:
    """Closures, by the table of virtual functions that a new object begins with."""
    runs = {(row.typeinfo, row.slot): row.slot for row in thread_classes()}
    methods = {one.function: one.slot for one in image.overrides if (one.base, one.slot) in runs}
    stored = np.concatenate([image.behind.stored, image.behind.stepped])
    if not methods or not len(stored):
        return []
    objects: dict[int, Words] = defaultdict(lambda: defaultdict(set))
    makers: dict[int, int] = {}
    # What one instruction stores in either of two new objects: a run of the function makes one of them.
    alike: dict[int, int] = {}
    stored = stored[among(_holder(stored["variable"]), image.calls["ip"])]
    for ip, place, what, function, step in stored[["ip", "variable", "what", "function", "step"]].tolist():
        holder = place >> HELD_OFFSET_BITS & _HOLDERS
        if alike.setdefault(ip, holder) == holder:
            objects[holder][place & _OFFSETS].add(what + (step << _STEPS))
            makers.setdefault(holder, function)
    found = []
    for ip, words in objects.items():
        entry = _method(image, words.get(0, set()), methods)
        if entry >= 0:
            told = {at: value for at, values in words.items() if (value := one_of(image, values)) and at}
            raw = {at: next(iter(values)) for at, values in words.items() if len(values) == 1 and at}
            found.append(_Started(entry, makers[ip], ip, told, raw, _chosen(image, words)))
    return found


def _chosen(image: Image, words: Words) -> frozenset[int]:
    """The functions that stand in the one word of an object in which there may be several."""
    several = [values for values in words.values() if len(values) > 1]
    codes = [values for values in several if all(not what & int(HELD) and is_code(image, what) for what in values)]
    return frozenset(codes[0]) if len(codes) == 1 else frozenset()


def _holder(targets: Table) -> npt.NDArray[np.uint64]:
    held: npt.NDArray[np.uint64] = targets >> np.uint64(HELD_OFFSET_BITS) & np.uint64(_HOLDERS)
    return held


def _method(image: Image, tables: set[int], methods: dict[int, int]) -> int:
    """The row of the function that a thread runs of an object with one of these tables, -1 none."""
    words, width = image.code_words, image.arch.pointer_size
    for table in tables:
        for function, slot in methods.items():
            address = table + slot * width
            if address > _ADDRESSES:  # of an element of an array, or behind the last address: no table
                break
            at = int(np.searchsorted(words["slot"], np.uint64(address)))
            if at < len(words) and words[["slot", "value"]][at].item() == (address, function):
                return int(function_at(image, np.array([function], np.uint64))[0])
    return -1


def one_of(image: Image, values: set[int]) -> int:
    """What a word leads to, where all that is stored there is one thing; 0 unknown."""
    resolved = {_resolved(image, value, numbers.PARAM_ROUNDS) for value in values}
    return resolved.pop() if len(resolved) == 1 else 0


def _resolved(image: Image, value: int, rounds: int) -> int:
    """An argument that all callers give the same static address is that, as is a word that all of them hand over."""
    holder = value >> HELD_OFFSET_BITS & _HOLDERS
    if not value & int(HELD) or not holder & WORD_HOLDER:
        return value
    if is_frame(holder):
        return value
    if not is_argument(holder):
        return 0 if value & _OFFSETS else _passed(image, holder, MAX_HANDED_ON)
    row, number = function_of(holder), number_of(holder)
    callee = image.functions["address"][row]
    given = picked(image.args, (image.args["callee"] == callee) & (image.args["arg"] == number))
    told: set[int] = set()
    for _, _, what, function, _, kind, source, _ in given.tolist():
        if kind == ArgKind.ADDRESS and not source:
            told.add(what)
        elif kind == ArgKind.PARAM and rounds and function != row:
            outer = argument_holder(function, source)
            told.add(_resolved(image, int(HELD) | outer << HELD_OFFSET_BITS | what, rounds - 1) if what >= 0 else 0)
        else:
            told.add(0)
    ways = int(np.count_nonzero(image.calls["callee"] == callee))
    if len(told) == 1 and ways == len(set(given["ip"].tolist())):
        base = told.pop()
        if base:
            return 0 if step_of(base) else base + (value & _OFFSETS) + (step_of(value) << _STEPS)
    return value


def _passed(image: Image, holder: int, rounds: int) -> int:
    """What is in the word of an argument, where all callers hand over the same; 0 unknown."""
    row = function_of(holder)
    told: set[int] = set()
    for ip in image.calls["ip"][calls_of(image, int(image.functions["address"][row]))].tolist():
        told.update(_words_at(image, holder, ip, rounds) or [0])
    result = told.pop() if len(told) == 1 else 0
    return 0 if result & int(HELD) and result >> HELD_OFFSET_BITS & WORD_HOLDER and not _is_whole(result) else result


def _words_at(image: Image, holder: int, ip: int, rounds: int) -> list[int]:
    """What is in the word of an argument where the function is called from there; none unknown."""
    row, number = function_of(holder), number_of(holder)
    word = holder & WHOLE_ARGUMENT
    mine = [picked(rows, rows["ip"] == np.uint64(ip)) for rows in (image.behind.passed, image.behind.stepped)]
    passed = np.concatenate(mine)
    passed = picked(passed, _word(passed["variable"]) == number << WORD_NUMBER_BITS | word)
    here = [what + (step << _STEPS) for what, step in passed[["what", "step"]].tolist()]
    if here or not rounds:
        return here
    args = image.args
    own = picked(args, (args["ip"] == np.uint64(ip)) & (args["arg"] == number) & (args["kind"] == ArgKind.PARAM))
    own = picked(own, (own["value"] >= 0) & (own["value"] % image.arch.pointer_size == 0) & (own["function"] != row))
    for at, function, source in own[["value", "function", "source"]].tolist():
        outer = argument_holder(function, source) & ~WHOLE_ARGUMENT
        here.append(_passed(image, outer + word + at // image.arch.pointer_size, rounds - 1))
    return here


def _word(places: Table) -> npt.NDArray[np.uint64]:
    """Which argument these words are behind, and their numbers."""
    found: npt.NDArray[np.uint64] = places.astype(np.uint64) >> np.uint64(HELD_OFFSET_BITS) & np.uint64(_WORD)
    return found


def word_at_call(image: Image, row: int, number: int, ip: int) -> int:
    """What is in the first word of what an argument of a function points to, where it is called from there; 0
    unknown."""
    here = _words_at(image, argument_holder(row, number) & ~WHOLE_ARGUMENT, ip, 0)
    return one_of(image, set(here)) if here else 0


def closure_words(image: Image, row: int, number: int, ip: int) -> dict[int, int]:
    """The same of all words of an object, by bytes into it."""
    found = {}
    for word in range(MAX_CLOSURE_WORDS):
        here = set(_words_at(image, argument_holder(row, number) & ~WHOLE_ARGUMENT | word, ip, 0))
        if what := one_of(image, here) if here else 0:
            found[word * image.arch.pointer_size] = what
    return found


def with_closure_words(image: Image, closures: Iterable[tuple[int, int, dict[int, int]]]) -> Image:
    """The image with what functions do behind words of the objects that they are handed first: (call, address of the
    function, words by bytes into the object)."""
    found = []
    for ip, entry, words in closures:
        row = int(function_at(image, np.array([entry], np.uint64))[0])
        found.append(_Started(row, -1, ip, words, words))
    return with_words(image, _known_words(image, found)) if found else image


def _is_whole(value: int) -> bool:
    holder = value >> HELD_OFFSET_BITS & _HOLDERS
    return is_argument(holder) or is_frame(holder)


def argument_holder(function: int, number: int) -> int:
    """The holder that stands for an argument of a function (a row)."""
    row = function << (WORD_NUMBER_BITS + WORD_ARG_BITS)
    return WORD_HOLDER | row | number << WORD_NUMBER_BITS | WHOLE_ARGUMENT


def _known_words(image: Image, found: list[_Started]) -> dict[int, int]:
    """By holder of a word, as of ``Behind.word_sites``, what it leads to: the same whoever starts the entry."""
    words: dict[int, set[int]] = defaultdict(set)
    for one in found:
        for function, number, begin in parts_of(image, one.entry, 0):
            for at, what in one.words.items():
                if at >= begin:
                    holder = (
                        argument_holder(function, number) & ~WHOLE_ARGUMENT | (at - begin) // image.arch.pointer_size
                    )
                    words[holder].add(what)
    return {holder: whats.pop() for holder, whats in words.items() if len(whats) == 1}


def word_behind(image: Image, value: int, function: int, number: int) -> int:
    """Of a value that is a whole word of what an argument of a function (a row) leads to, the bytes in front of that
    word; -1 of others."""
    word = holder_of(value) - (argument_holder(function, number) & ~WHOLE_ARGUMENT)
    return word * image.arch.pointer_size if 0 <= word < WHOLE_ARGUMENT and not offset_of(value) else -1


def parts_of(image: Image, entry: int, argument: int) -> list[tuple[int, int, int]]:
    """(row of a function, its argument, bytes into the object): who is handed what ``entry`` is, or a part of it."""
    found = [(entry, argument, 0)]
    functions, passed = _by_function.of(image.args, (), lambda: _handed_by_function(image))
    for _ in range(numbers.PARAM_ROUNDS):
        for function, number, begin in list(found):
            first, last = np.searchsorted(functions, (function, function + 1)).tolist()
            mine = passed[first:last]
            mine = picked(mine, mine["source"] == number)
            callees = function_at(image, mine["callee"])
            for callee, arg, value in zip(callees.tolist(), mine["arg"].tolist(), mine["value"].tolist(), strict=True):
                if callee >= 0 and begin + value >= 0 and (callee, arg, begin + value) not in found:
                    found.append((callee, arg, begin + value))
    return found


def _handed_by_function(image: Image) -> tuple[npt.NDArray[np.int64], Table]:
    """Arguments of functions that these hand on, in the order of their functions, and the rows of these."""
    rows, functions = in_order(image.args, "function")
    passed = image.args["kind"][rows] == ArgKind.PARAM
    return functions[passed].astype(np.int64), picked(image.args, rows[passed])


def _placed(rows: Table, field: str, known: dict[int, int]) -> tuple[Table, npt.NDArray[np.int64]]:
    """Those behind words that are known, at what these lead to; and the steps of these."""
    holders = _holder(rows[field].astype(np.uint64))
    rows = rows[among(holders, np.array(sorted(known), np.uint64))].copy()
    column = rows[field]
    held = column.astype(np.uint64)
    whats = [known[h] for h in _holder(held).tolist()]
    bases = np.array([what & _ADDRESSES for what in whats], np.uint64)
    column[:] = (bases + (held & np.uint64(_OFFSETS))).astype(column.dtype)
    return rows, np.array([step_of(what) for what in whats], np.int64)


def _given(image: Image, found: list[_Started]) -> tuple[Given, ...]:
    """The functions that closures call through a pointer, and what they hand to them: words of the closure, and to
    methods the one object besides."""
    calls = image.calls
    through = calls["callee"] == 0
    indirect = set(calls["function"][through].tolist())
    given: list[tuple[int, int, int, int, int]] = []
    for one in found:
        data = {at: what for at, what in one.words.items() if what & int(HELD) or not is_code(image, what)}
        functions = {what for at, what in one.words.items() if at not in data}
        if one.entry not in indirect:
            continue
        caller = int(image.functions["address"][one.entry])
        entries = one.chosen if not functions else functions if len(functions) == 1 else set()
        if entries:
            handed = _handed_on(image, one)
            first = {what for at, what in data.items() if at not in handed.values() or at == handed.get(0)}
            handed.pop(0, None)
            object_at = first.pop() if len(first) == 1 else 0
            for function in sorted(entries):
                given.append((one.ip, function, 0, object_at, caller))
                given += [(one.ip, function, arg, data[at], caller) for arg, at in handed.items() if at in data]
        elif not functions:
            given += _given_by_callers(image, one)
    return of_one_object(
        Given(ip, function, arg, told & _ADDRESSES, by, stride=step_of(told)) for ip, function, arg, told, by in given
    )


def of_one_object(given: Iterable[Given]) -> tuple[Given, ...]:
    """The same, without what an argument of a function leads to where that is not always one object."""
    every = list(dict.fromkeys(given))
    objects: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
    for one in every:
        objects[one.entry, one.parameter].add((one.data, one.stride))
    return tuple(
        one if len(objects[one.entry, one.parameter]) == 1 else msgspec.structs.replace(one, data=0, stride=0)
        for one in every
    )


def _handed_on(image: Image, one: _Started) -> dict[int, int]:
    """By argument of what a closure's function calls through a pointer the word of the closure that it is, in bytes."""
    args = image.behind.word_args
    mine = picked(args, (args["function"] == one.entry) & (args["callee"] == 0) & (args["source"] == 0))
    words: dict[int, set[int]] = defaultdict(set)
    for arg, value in mine[["arg", "value"]].tolist():
        words[arg].add(word_behind(image, value, one.entry, 0))
    return {arg: at.pop() for arg, at in words.items() if len(at) == 1}


def _given_by_callers(image: Image, one: _Started) -> list[tuple[int, int, int, int, int]]:
    """As ``given`` of ``_given``, where each caller of the maker hands over the function and what that is to get."""
    handed = _handed_on(image, one)
    caller = int(image.functions["address"][one.entry])
    given = []
    for ip in image.calls["ip"][calls_of(image, int(image.functions["address"][one.maker]))].tolist():
        here = {at: told for at, what in one.stored.items() if (told := value_at_call(image, what, ip))}
        functions = [at for at, what in here.items() if not what & int(HELD) and is_code(image, what)]
        if len(functions) != 1:
            return []
        function = here.pop(functions[0])
        data = {arg: here[at] for arg, at in handed.items() if at in here}
        rest = [at for at in here if at not in handed.values()]
        if len(rest) == 1 and 0 not in data:  # a method's object is moved on the way
            data[0] = here[rest[0]]
        given += [(ip, function, arg, what, caller) for arg, what in {0: 0, **data}.items()]
    return given


def value_at_call(image: Image, value: int, ip: int) -> int:
    """What a word that the maker of an object stored leads to, where it was called from there; 0 unknown."""
    holder = holder_of(value)
    if not value & int(HELD) or not holder & WORD_HOLDER or is_frame(holder):
        return value
    if not is_argument(holder):
        here = set() if value & _OFFSETS else set(_words_at(image, holder, ip, MAX_HANDED_ON))
        return one_of(image, here) if len(here) == 1 else 0
    told: set[int] = set()
    for rows in (image.args, image.behind.args):
        mine = picked(rows, (rows["ip"] == np.uint64(ip)) & (rows["arg"] == number_of(holder)))
        mine = picked(mine, mine["callee"] == image.functions["address"][function_of(holder)])
        for what, function, kind, source in mine[["value", "function", "kind", "source"]].tolist():
            if kind == ArgKind.PARAM and what >= 0:
                told.add(int(HELD) | argument_holder(function, source) << HELD_OFFSET_BITS | what)
            else:
                told.add(what + (source << _STEPS) if kind == ArgKind.ADDRESS else 0)
    base = one_of(image, told) if len(told) == 1 else 0
    return base + (value & _OFFSETS) if base else 0


def functions_handed(image: Image, value: int) -> list[tuple[int, int]]:
    """(address of a call, function) of what callers hand over as this argument of the maker, or in a word that it
    points to; none where one of them hands over something else."""
    holder = value >> HELD_OFFSET_BITS & _HOLDERS
    is_word = bool(holder & WORD_HOLDER) and not is_own_word(holder) and not is_frame(holder)
    if not value & int(HELD) or not is_word or value & _OFFSETS:
        return []
    callee = image.functions["address"][function_of(holder)]
    if is_argument(holder):
        handed = picked(image.args, (image.args["callee"] == callee) & (image.args["arg"] == number_of(holder)))
        handed = picked(handed, handed["kind"] == ArgKind.ADDRESS)
        found = list(zip(handed["ip"].tolist(), handed["value"].tolist(), strict=True))
    else:
        passed = image.behind.passed[
            among(image.behind.passed["ip"], image.calls["ip"][image.calls["callee"] == callee])
        ]
        passed = picked(passed, _word(passed["variable"]) == holder & _WORD)
        found = list(zip(passed["ip"].tolist(), passed["what"].tolist(), strict=True))
    every = np.count_nonzero(image.calls["callee"] == callee) == len({ip for ip, _ in found}) == len(found)
    return found if every and all(is_code(image, function) for _, function in found) else []


def is_code(image: Image, address: int) -> bool:
    address &= _ADDRESSES
    return int(function_at(image, np.array([address], np.uint64))[0]) >= 0
