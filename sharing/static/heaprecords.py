"""Objects on the heap that are known one by one: a static pointer leads to it, or it is what threads are handed.

Owns which pointers lead to one object for as long as threads run, and what an image says of that object: where it was
made, how large it is, and at what it may begin.  An object that threads may have one each of is not among them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.columns import those_having
from sharing.basics.naming import Demangle, readable_names
from sharing.knowledge.mangled import parse
from sharing.model.arrays import among, picked
from sharing.model.image import (
    HEAP_ALIGNMENT,
    HELD,
    HELD_ADDRESS_BITS,
    HELD_OFFSET_BITS,
    AccessKind,
    Image,
    SiteFlag,
    Table,
)
from sharing.model.threadwords import is_own_word
from sharing.model.types import TypeKind
from sharing.static import numbers
from sharing.static.allocations import allocation
from sharing.static.callees import function_at, function_name
from sharing.static.callgraph import CallGraph
from sharing.static.executions import times
from sharing.static.handedobjects import Handed, Told
from sharing.static.phases import program_point
from sharing.static.startobjects import function_of, is_argument, is_frame

MAX_RECORDS = 256  # of one image: with more, those behind the first pointers

_WRITES = (AccessKind.STORE, AccessKind.RMW)


class HeapRecord(msgspec.Struct, frozen=True):
    """One object.  ``pointer`` is the address of the static pointer to it, or of the call that makes it.

    ``size`` in bytes, 0 unknown.
    ``alignment`` is what its allocator promises; ``type`` the name of the record in debug information, "" unknown.
    """

    pointer: int
    name: str  # of the pointer, or of the argument that leads to it
    type: str
    kind: str  # "struct ", "class " or "" in front of the type's name
    size: int
    alignment: int
    calls: tuple[int, ...]  # instructions, each of which makes it on one way through the program
    where: str  # which object it is, in words that follow "the object is"
    begin: int = 0  # bytes from where the holder's offsets count to the first that may be the object's
    member_of: tuple[str, int] | None = None  # record, and bytes in it, of the pointer that leads there


def heap_records(told: Told, calls: CallGraph, demangle: Demangle) -> list[HeapRecord]:
    """The objects that are one each: by the address of their pointers, then those that threads are handed."""
    image, handed = told.image, told.handed
    held = image.behind.held
    pointers = np.unique(holders(np.concatenate([image.behind.sites["target"], told.sites["target"]])))
    new = pointers[among(pointers, held["variable"][_makes(image, held)])]
    fixed = [pointer for pointer in new.tolist() if _is_fixed(image, calls, pointer)]
    fixed += [pointer for pointer in _to_own_elements(image).tolist() if _is_settled(image, calls, pointer, fixed)]
    found = [_record(image, pointer) for pointer in sorted(fixed)[:MAX_RECORDS]]
    records = [record for record in found if record is not None]
    known = {ip for record in records for ip in record.calls}
    records += _arguments(told, demangle)
    records += _words(told, demangle)
    records += _own_words(told)
    mine = [one for one in handed if _holder(one.data) not in known]
    known.update(_holder(one.data) for one in handed)
    records += _handed_records(image, calls, mine) + _led_records(image, calls, known)
    return records + _arrays(told, calls, {ip for record in records for ip in (record.pointer, *record.calls)})


def _arguments(told: Told, demangle: Demangle) -> list[HeapRecord]:
    """Objects that functions are handed and start threads with: of all runs of such a function one stands for each."""
    image = told.image
    passed = image.behind.args["value"].astype(np.uint64)
    found = np.unique(holders(np.concatenate([image.behind.sites["target"], told.sites["target"], passed])))
    records = []
    arguments = [holder for holder in found.tolist() if is_argument(holder)][:MAX_RECORDS]
    names = [function_name(image, function_of(holder)) for holder in arguments]
    shown = readable_names(names, demangle)
    for holder, name in zip(arguments, names, strict=True):
        method = parse(name) if name.startswith("_ZN") else None
        scope = "::".join(method.parts[:-1]) if method else ""
        words = f"`this` of {shown[name]}" if scope else f"an argument of {shown[name]}"
        where = _where(words, f"who calls {shown[name]}")
        records.append(HeapRecord(holder, words, scope, "", 0, HEAP_ALIGNMENT, (), where))
    return records


def _words(told: Told, demangle: Demangle) -> list[HeapRecord]:
    """Objects that words of what functions are handed lead to."""
    chosen = list(told.words.items())[:MAX_RECORDS]
    names = {word.entry: function_name(told.image, word.entry) for _, word in chosen}
    shown = readable_names(list(names.values()), demangle)
    records = []
    for holder, word in chosen:
        which = f"argument {word.argument} of" if word.argument else "argument of"
        argument = f"{which} {shown[names[word.entry]]}"
        words = f"{argument}+{word.offset:#x}" if word.offset or not word.argument else argument
        where = f"the one that a pointer leads to, {word.offset} bytes into {'' if word.argument else 'the '}{argument}"
        records.append(HeapRecord(holder, words, "", "", 0, HEAP_ALIGNMENT, (), where))
    return records


def _own_words(told: Told) -> list[HeapRecord]:
    """Elements that words of thread-local storage lead to."""
    found = np.unique(holders(told.image.behind.sites["target"])).tolist()
    where = "an element of an array, to which a pointer of each thread's own leads"
    names = told.image.behind.own_names
    own = [(holder, names.get(holder, "a thread-local pointer")) for holder in found if is_own_word(holder)]
    return [HeapRecord(holder, name, "", "", 0, HEAP_ALIGNMENT, (), where) for holder, name in own[:MAX_RECORDS]]


def _where(pointer: str, made: str) -> str:
    return f"the one that {pointer} leads to, made by {made}"


def _holder(target: int | None) -> int:
    return 0 if target is None else int(holders(np.array([target], np.uint64))[0])


def _handed_records(image: Image, calls: CallGraph, handed: Sequence[Handed]) -> list[HeapRecord]:
    """The objects that code which runs once makes, outside of loops, and starts threads with."""
    entries: dict[int, dict[str, None]] = {}
    for one in handed:
        if one.starts and one.data is not None and one.data & int(HELD):
            row = int(function_at(image, np.array([one.entry], np.uint64))[0])
            entries.setdefault(_holder(one.data), {})[function_name(image, row)] = None
    made = those_having(image.calls, "ip", np.array(list(entries), np.uint64))
    once = calls.phases.starts_once(made["function"]) & (made["loop_depth"] == 0)
    records = [_frame(image, holder, list(names)) for holder, names in entries.items() if is_frame(holder)]
    for ip, function in made[["ip", "function"]][once][:MAX_RECORDS].tolist():
        size, alignment, name = allocation(image, ip)
        if alignment:
            words = f"the argument of {' and '.join(list(entries[ip])[:2])}"
            made_by = f"{name} in {function_name(image, function)}"
            records.append(HeapRecord(ip, words, "", "", size, alignment, (ip,), _where(words, made_by)))
    return records


def _led_records(image: Image, calls: CallGraph, known: Collection[int]) -> list[HeapRecord]:
    """The objects that code which runs once makes, outside of loops, and gives to what it starts threads with."""
    records = []
    for holder, row, offset in image.behind.led[:MAX_RECORDS]:
        name = function_name(image, row)
        words = f"argument of {name}+{offset:#x}"
        where = f"the one that a pointer leads to, {offset} bytes into the argument of {name}"
        made = picked(image.calls, image.calls["ip"] == np.uint64(holder))
        if holder in known:
            continue
        if is_frame(holder):
            records.append(HeapRecord(holder, words, "", "", 0, HEAP_ALIGNMENT, (), where))
        elif len(made) and calls.phases.starts_once(made["function"])[0] and not made["loop_depth"][0]:
            size, alignment, _ = allocation(image, holder)
            if alignment:
                records.append(HeapRecord(holder, words, "", "", size, alignment, (holder,), where))
    return records


def _arrays(told: Told, calls: CallGraph, known: Collection[int]) -> list[HeapRecord]:
    """The arrays of which a loop gives each thread that it starts an element, by the entry of these threads."""
    image = told.image
    given = {(_holder(one.data), one.entry): one.stride for one in told.handed if one.starts and one.stride}
    rows = function_at(image, np.array([entry for _, entry in given], np.uint64)).tolist()
    found = [*image.behind.arrays]
    found += [(holder, row, step) for (holder, _), row, step in zip(given, rows, given.values(), strict=True)]
    names = {root.function: root.name for root in calls.roots}
    records = {}
    for holder, row, step in found[:MAX_RECORDS]:
        name = names.get(row) or function_name(image, row)
        words, where = f"the argument of {name}", f"the array of which each thread of {name} is handed an element"
        if not holder or holder in known or is_argument(holder) or is_frame(holder):
            continue
        if among(np.array([holder], np.uint64), image.calls["ip"])[0]:
            size, alignment, _ = allocation(image, holder)
        else:
            # Elements that are whole lines may begin at one: of the array's own begin nothing is known.
            size, alignment = 0, HEAP_ALIGNMENT if step % image.arch.line_size else 0
        if alignment:
            records[holder] = HeapRecord(holder, words, "", "", size, alignment, (), where)
    return list(records.values())


def _frame(image: Image, holder: int, entries: list[str]) -> HeapRecord:
    """What threads are handed of the frame of the function that starts them: its variables, whichever these are."""
    words = f"stack of {function_name(image, function_of(holder))}"
    where = f"what {' and '.join(entries[:2])} {'are' if entries[1:] else 'is'} handed on the {words}"
    return HeapRecord(holder, words, "", "", 0, HEAP_ALIGNMENT, (), where)


_ADDRESSES = np.uint64((1 << HELD_ADDRESS_BITS) - 1)


def _is_fixed(image: Image, calls: CallGraph, pointer: int) -> bool:
    """Whether a pointer to a new object is set to such alone, and by nobody once threads that use it run."""
    sites, size = image.sites, np.uint64(image.arch.pointer_size)
    row = image.variable_at(pointer)
    if row < 0:
        return False
    inside = _leads_there(image, row, pointer)
    if (inside & (sites["kind"] == AccessKind.ADDRESS)).any():
        return False  # whoever has the address may set it
    at = np.uint64(pointer)
    target, extent = sites["target"], sites["size"]
    touched = (target < at + size) & (target + np.maximum(extent, 1) > at)
    touched |= inside & (sites["flags"] & SiteFlag.INDEXED != 0)
    stores = picked(sites, touched & among(sites["kind"], _WRITES))
    held = picked(image.behind.held, image.behind.held["variable"] == at)
    new = held["ip"][_makes(image, held)]
    others = stores[~among(stores["ip"], new)]
    if (others["flags"] & SiteFlag.CLEARS == 0).any():
        return False
    return bool(_seldom(image, calls, stores[among(stores["ip"], new)]).all())


def leads_to_one(image: Image, calls: CallGraph, pointer: int) -> bool:
    """Whether a static pointer, behind which threads use elements of their own, leads to one array while they run."""
    held = image.behind.held
    new = bool(among(np.array([pointer], np.uint64), held["variable"][_makes(image, held)])[0])
    return (new and _is_fixed(image, calls, pointer)) or _is_settled(image, calls, pointer, ())


def _to_own_elements(image: Image) -> Table:
    """Places of static pointers behind which threads use elements of their own."""
    sites = image.behind.sites
    own = SiteFlag.OWN | SiteFlag.INDEXED
    return np.unique(holders(sites["target"][sites["flags"] & own == own]))


def _is_settled(image: Image, calls: CallGraph, pointer: int, fixed: Sequence[int]) -> bool:
    """Whether whoever may set the pointer does so before threads that use it run, whatever it is set to.

    A vector is given its elements by functions that get its address.  What it leads to is one array for all threads, of
    which neighbours share a line wherever it begins.
    """
    row = image.variable_at(pointer)
    if row < 0 or pointer in fixed:
        return False
    sites, word = image.sites, np.uint64(image.arch.pointer_size)
    inside = _leads_there(image, row, pointer)
    at = np.uint64(pointer)
    target, extent = sites["target"], sites["size"]
    here = (target < at + word) & (target + np.maximum(extent, 1) > at)
    touched = (here | (inside & (sites["flags"] & SiteFlag.INDEXED != 0))) & among(sites["kind"], _WRITES)
    setting = picked(sites, touched | (inside & (sites["kind"] == AccessKind.ADDRESS)))
    return bool(len(setting)) and bool(_seldom(image, calls, setting).all())


def _leads_there(image: Image, row: int, pointer: int) -> npt.NDArray[np.bool_]:
    """Which sites are to what has the pointer in it: whoever has the address of that, or an index in it, may set it.

    That is the variable of this row, or, of a record that debug information describes, the member around the pointer:
    from another member's address, that of a lock for example, nobody gets there.  Where the variable begins is its own.
    """
    target = image.sites["target"]
    start, extent = (int(image.variables[name][row]) for name in ("address", "size"))
    end = start + max(extent, image.arch.pointer_size)
    types, first, last = image.types, start, end
    core = types.strip(int(image.variables["type"][row]))[0]
    if core >= 0 and types[core].kind == TypeKind.STRUCT:
        for member in types[core].members:
            begin = start + member.offset_bits // 8
            if not member.bit_size and begin <= pointer < begin + types.size(member.type):
                first, last = begin, begin + types.size(member.type)
    there: npt.NDArray[np.bool_] = (target == np.uint64(start)) | (
        (target >= np.uint64(first)) & (target < np.uint64(last))
    )
    return there


def _makes(image: Image, held: Table) -> npt.NDArray[np.bool_]:
    """Which of these rows store a new object: its beginning, as a call returned it."""
    what = held["what"]
    made: npt.NDArray[np.bool_] = among(holders(what), image.calls["ip"]) & (offsets(what) == 0)
    return made


def holders(targets: Table) -> Table:
    return targets >> np.uint64(HELD_OFFSET_BITS) & _ADDRESSES


def offsets(targets: Table) -> Table:
    return targets & np.uint64((1 << HELD_OFFSET_BITS) - 1)


def _seldom(image: Image, calls: CallGraph, stores: Table) -> npt.NDArray[np.bool_]:
    """Which stores run before threads start, or about once, in one thread that has no second of its kind."""
    function = stores["function"]
    alone = calls.phases.sequential(function, program_point(image, stores))
    weight = calls.frequency[function] * times(stores["loop_depth"], stores["rarity"])
    one = np.array([not calls.concurrent(mask, mask) for mask in calls.mask_of(image, stores).tolist()], bool)
    result: npt.NDArray[np.bool_] = alone | (one & (stores["loop_depth"] == 0) & (weight < numbers.WARM_WEIGHT))
    return result


def _record(image: Image, pointer: int) -> HeapRecord | None:
    """What the image says of the object behind the pointer; None where that may be one of several."""
    held = picked(image.behind.held, image.behind.held["variable"] == np.uint64(pointer))
    made = holders(held["what"][_makes(image, held)])
    sizes, alignments, words = set(), set(), []
    for ip in dict.fromkeys(made.tolist()):
        size, alignment, name = allocation(image, ip)
        sizes.add(size)
        alignments.add(alignment)
        at = image.calls["ip"] == np.uint64(ip)
        row = int(image.calls["function"][at][0])
        words.append(f"{name} in {function_name(image, row)}")
    if 0 in alignments:
        return None
    kind, name = pointed_record(image, pointer)
    pointer_name = _pointer_name(image, pointer)
    where = _where(pointer_name, ", ".join(words[:2])) if words else f"the array that {pointer_name} leads to"
    return HeapRecord(
        pointer,
        pointer_name,
        name,
        kind,
        sizes.pop() if len(sizes) == 1 else 0,
        min(alignments, default=HEAP_ALIGNMENT),
        tuple(made.tolist()),
        where,
    )


def _pointer_name(image: Image, pointer: int) -> str:
    row = image.variable_at(pointer)
    name, offset = image.variable_name(row), pointer - int(image.variables["address"][row])
    types, kind = image.types, int(image.variables["type"][row])
    leaf = types.leaf(kind, offset) if kind >= 0 else None
    if leaf is not None and leaf.path:
        return f"{name}.{leaf.path}"
    return f"{name}+{offset:#x}" if offset else name


def pointed_record(image: Image, pointer: int) -> tuple[str, str]:
    """(the word in front, the name) of the record that the pointer's type points to; "" where nothing tells."""
    row = image.variable_at(pointer)
    kind = int(image.variables["type"][row])
    leaf = image.types.leaf(kind, pointer - int(image.variables["address"][row])) if kind >= 0 else None
    if leaf is None or leaf.kind != TypeKind.POINTER or not leaf.type_name.endswith("*"):
        return "", ""
    name = leaf.type_name[:-1].strip()
    for word in ("const ", "volatile "):
        name = name.removeprefix(word)
    kinds = ("struct ", "class ", "union ")
    word = next((word for word in kinds if name.startswith(word)), "")
    name = name.removeprefix(word)
    return ("", "") if name.endswith("*") or name in ("void", "char") else (word, name)
