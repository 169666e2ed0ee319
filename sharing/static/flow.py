"""What calls do to the variables whose addresses they are given.

Owns two interprocedural summaries: which calls take, release or initialise a lock (through wrappers that pass
their own argument on), and which bytes behind a pointer argument a function reads and writes.  Bounded rounds;
what is passed through memory or returned is not followed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.basics.columns import numbered, those_having
from sharing.basics.kept import Kept
from sharing.knowledge import Knowledge
from sharing.knowledge.locks import WAITS
from sharing.model.arrays import among, distinct, leading, picked, sorting, stacked
from sharing.model.image import (
    PARAM_DTYPE,
    SITE_DTYPE,
    AccessKind,
    ArgKind,
    Image,
    SiteFlag,
    Table,
)
from sharing.model.profile import COMPANIONS
from sharing.static import numbers
from sharing.static.callees import function_at, functions_given, names_of_callees, of_call
from sharing.static.executions import in_loop
from sharing.static.handovers import ADDRESS_MASK, of_known_objects
from sharing.static.lockwrappers import wrapper_calls

MAX_SUMMARY_ROWS = 1_500_000
OFFSET_LIMIT = 1 << 21  # bytes behind a pointer that are still told apart
MAX_CALLEE_ROWS = 64  # accesses kept per function and argument: more says nothing new about a line

LOCK, UNLOCK, INIT = 1, 2, 3
_EFFECT = {"lock": LOCK, "unlock": UNLOCK, "init": INIT}

# One call that treats a static address as a lock.
LOCK_DTYPE = np.dtype(
    [
        ("ip", "<u8"),
        ("address", "<u8"),
        ("function", "<i4"),
        ("row", "<i4"),  # Knowledge.locks
        ("effect", "u1"),
        ("loop_depth", "u1"),
        ("stride", "u1"),  # of an array of locks at a computed index, else 0
        ("rarity", "<u2"),  # of the call, see SITE_DTYPE
        ("order", "<u2"),
        ("deeper", "u1"),  # 1: not the called function takes the lock and releases it again, but one that it calls
    ]
)


class _Effect(msgspec.Struct, frozen=True):
    row: int
    effect: int


# The index of a called function, its argument, and of the lock behind it the row in ``Knowledge.locks`` and the offset.
_Wrapper = tuple[int, int, int, int]
_Behind = tuple[int, int, int]  # the same without the row
ByEntry = dict[tuple[int, int], list[tuple[int, int]]]  # see objects_by_entry

_passed: Kept[tuple[Table, Table]] = Kept()


class _Within:
    """Functions that release again, each time they run, a lock that they take behind an argument.

    By several names, some of them inlined: it may be taken as one type of a lock, and released as the one within it.
    """

    def __init__(self) -> None:
        self._calls: dict[_Behind, list[tuple[tuple[int, int], int, float]]] = defaultdict(list)
        self._take: set[_Behind] = set()  # those that hold it between two of their calls

    def add(self, lock: _Behind, does: tuple[int, ...], rarity: int, place: tuple[int, int]) -> None:
        """``does``: what a call in the function, which is so rare, does to the lock; ``place``: block and address."""
        for effect in does:
            self._calls[lock].append((place, effect, 2.0 ** (-rarity / shared.RARITY_STEPS)))
        if LOCK in does and UNLOCK not in does:
            self._take.add(lock)

    def is_deeper(self, lock: _Behind) -> bool:
        """Whether the function holds the lock only while it calls one that takes and releases it."""
        return lock in self._calls and lock not in self._take

    def of(self, lock: _Behind, effect: int) -> tuple[int, ...]:
        """What a call of the function does to the lock."""
        calls = self._calls.get(lock, ()) if effect == LOCK else ()
        first = min((place for place, what, _ in calls if what == LOCK), default=None)
        if first is None:
            return (effect,)
        taken = sum(chance for _, what, chance in calls if what == LOCK)
        released = sum(chance for place, what, chance in calls if what == UNLOCK and place >= first)
        return (LOCK, UNLOCK) if released >= numbers.RELEASED * taken else (effect,)


class _Given:
    """Rows of arguments by the index of the function that they are for and their number."""

    def __init__(self, callee: Table, arg: Table) -> None:
        keys = _key(callee, arg)
        self._order = sorting(keys)
        self._keys = keys[self._order]

    def of(self, effects: dict[_Wrapper, int]) -> Iterator[tuple[_Wrapper, int, Table]]:
        """The effects of which there are any, each with its rows."""
        for lock, effect in effects.items():
            key = lock[0] * 256 + lock[1]  # as ``_key`` says it of tables
            first, last = self._keys.searchsorted((key, key + 1)).tolist()
            if first < last:
                yield lock, effect, self._order[first:last]


class LockCalls(msgspec.Struct, frozen=True):
    """Calls that treat something as a lock: a static address (``events``), or nobody knows what (``unknown``).

    LOCK_DTYPE, by ip; an unknown lock has the address 0, and is kept in functions that take a known one.
    ``wrapped``: calls of functions that take or release such a lock themselves, and are not handed it; ``waiting``:
    addresses of calls that wait, which give a lock back as it was.
    ``held`` by function row, and ``sizes``: of locks that code takes by itself (``spinlocks``)."""

    events: Table
    unknown: Table
    held: dict[int, list[tuple[int, int, int]]] = {}  # [begin, end), address
    sizes: dict[int, int] = {}  # by address
    wrapped: Table = msgspec.field(default_factory=lambda: np.empty(0, LOCK_DTYPE))
    waiting: Table = msgspec.field(default_factory=lambda: np.empty(0, np.uint64))


def lock_events(image: Image, knowledge: Knowledge) -> Table:
    """All calls that lock, unlock or initialise an object at a static address (LOCK_DTYPE, by ip)."""
    return lock_calls(image, knowledge).events


def lock_calls(image: Image, knowledge: Knowledge, handed: ByEntry | None = None) -> LockCalls:
    """All calls that treat something as a lock, or pass it on to one; ``handed``: ``objects_by_entry``."""
    args = image.args
    callees, inverse = numbered(args, "callee")
    index = {int(a): i for i, a in enumerate(callees.tolist())}
    effects, waits = _by_names(knowledge, names_of_callees(image, callees))
    given = _Given(inverse, args["arg"])
    calls, arg_ips, fresh = image.calls, args["ip"], dict(effects)
    call_ips = np.ascontiguousarray(calls["ip"])
    out: list[tuple[int, ...]] = []
    handed = objects_by_entry(image, knowledge) if handed is None else handed
    within = _Within()
    # A function, its argument, and whether its lock is a condition variable; what a name says is not looked for.
    taken = {(callee, arg, knowledge.locks[row].kind in COMPANIONS) for callee, arg, row, _ in effects}
    for _ in range(numbers.LOCK_WRAPPERS):
        found: dict[_Wrapper, int] = {}
        for (callee, arg_number, row, offset), effect, rows in given.of(fresh):
            called_at = np.minimum(np.searchsorted(call_ips, arg_ips[rows]), len(call_ips) - 1)
            rarity, place = calls["rarity"][called_at].tolist(), calls["order"][called_at].tolist()
            does = within.of((callee, arg_number, offset), effect)
            deeper = int(len(does) > 1 and within.is_deeper((callee, arg_number, offset)))
            for (ip, _, value, function, arg, kind, source, depth), rare, block in zip(
                args[rows].tolist(), rarity, place, strict=True
            ):
                if arg != arg_number or function < 0:
                    continue
                value += offset
                if kind == ArgKind.ADDRESS:
                    # The field is signed for parameter offsets; a kernel's addresses have the top bit.
                    out += [(ip, value & ADDRESS_MASK, function, row, did, depth, source, 0, 0, deeper) for did in does]
                elif kind == ArgKind.PARAM:
                    for data, stride in handed.get((function, source), ()):
                        at = data + value & ADDRESS_MASK
                        out += [(ip, at, function, row, did, depth, stride, 0, 0, deeper) for did in does]
                    wrapper = index.get(int(image.functions["address"][function]))
                    if wrapper is None:
                        continue
                    key = (wrapper, source, row, value)
                    if callee not in waits:
                        within.add((wrapper, source, value), does, rare, (block, ip))
                    old = effects.get(key) or found.get(key)
                    # A function that both takes and releases counts as taking.
                    mine = wrapper, source, knowledge.locks[row].kind in COMPANIONS
                    if old is None and mine not in taken:
                        taken.add(mine)  # of several locks of a record the first
                        found[key] = effect
                    elif old is not None and old != LOCK and effect == LOCK:
                        found[key] = effect
        effects.update(found)
        fresh = found
        if not fresh:
            break
    table = np.array(out, LOCK_DTYPE) if out else np.empty(0, LOCK_DTYPE)
    table["rarity"], table["order"] = of_call(image, table["ip"], "rarity"), of_call(image, table["ip"], "order")
    table = distinct(table)
    wrappers: dict[int, list[_Effect]] = defaultdict(list)
    for (callee, _, row, _), effect in effects.items():
        wrappers[int(callees[callee])].append(_Effect(row, effect))
    unknown = _unknown(image, knowledge, table, wrappers)
    waiting = distinct(args["ip"][among(inverse, np.array(sorted(waits), np.int64))])
    return LockCalls(table, unknown, wrapped=_wrapped(image, table, unknown, waiting), waiting=waiting)


def _wrapped(image: Image, events: Table, unknown: Table, waiting: Table) -> Table:
    held = picked(events, ~among(events["ip"], waiting) & (events["effect"] != INIT))
    return wrapper_calls(image, held, unknown, lock=LOCK, unlock=UNLOCK)


def _by_names(knowledge: Knowledge, called: list[str]) -> tuple[dict[_Wrapper, int], set[int]]:
    """What functions do to locks by their names, and which of them wait: these give the lock back as it was."""
    effects: dict[_Wrapper, int] = {}
    waits: set[int] = set()
    for i in knowledge.lock_callees(called):
        if called[i].rpartition(".")[2] in WAITS:  # as source names what waits, of the lock that is released meanwhile
            waits.add(i)
        for arg, row, name in knowledge.lock_calls(called[i]):
            effects.setdefault((i, arg, row, 0), _EFFECT[name])
            if knowledge.locks[row].kind in COMPANIONS:
                waits.add(i)
    return effects, waits


def _unknown(image: Image, knowledge: Knowledge, events: Table, known: dict[int, list[_Effect]]) -> Table:
    """Calls that take or release a lock which is none of ``events``, in functions that take one of those.

    ``known``: what functions do to locks that they are given, by address; more are known by their names.
    """
    function, takes = events["function"], events["effect"] == LOCK
    calls = those_having(image.calls, "function", distinct(function[takes]))
    calls = picked(calls, ~among(calls["ip"], events["ip"]))
    called = calls["callee"]
    callees = distinct(called[called != 0])
    names = names_of_callees(image, callees)
    by_name = {int(callees[i]): [_Effect(r, _EFFECT[e]) for _, r, e in knowledge.lock_calls(names[i])]
               for i in knowledge.lock_callees(names)}  # fmt: skip
    for callee, name in zip(callees.tolist(), names, strict=True):
        if callee not in known and callee not in by_name and (rows := knowledge.lock_releases(name)):
            by_name[callee] = [_Effect(row, UNLOCK) for row in rows]
    # What waits gives a lock back as it was.
    effects = {
        callee: [effect for effect in some if effect.effect != INIT]
        for callee, some in (known | by_name).items()
        if not any(knowledge.locks[effect.row].kind in COMPANIONS for effect in some)
    }
    out: list[tuple[int, ...]] = []
    for call in calls[among(calls["callee"], np.array(list(effects), np.uint64))]:
        at = int(call["ip"]), 0, int(call["function"])
        where = int(call["loop_depth"]), 0, int(call["rarity"]), int(call["order"]), 0
        out += [(*at, effect.row, effect.effect, *where) for effect in effects[int(call["callee"])]]
    return distinct(np.array(out, LOCK_DTYPE)) if out else np.empty(0, LOCK_DTYPE)


def objects_by_entry(image: Image, knowledge: Knowledge) -> ByEntry:
    """By function row and argument the objects that starts of threads and calls back hand to it, as of entries."""
    objects: ByEntry = {}
    for row, data, stride, parameter in _entries_with_data(image, knowledge):
        objects.setdefault((row, parameter), []).append((data, stride))
    return objects


def through_arguments(image: Image) -> Table:
    """Accesses that callees make to static addresses which their callers pass (SITE_DTYPE, VIA_CALL).

    ``ip`` is the call, ``function`` the caller: it is the caller whose thread and frequency count.  An element chosen
    by a computed index stays one: an array does not turn into its first element because a function is handed one.
    """
    args = picked(image.args, image.args["kind"] == ArgKind.ADDRESS)
    callee = function_at(image, args["callee"])
    keep = callee >= 0
    args, callee = picked(args, keep), callee[keep]
    params = _summaries(image, callee)
    if not len(params) or not len(args):
        return np.empty(0, SITE_DTYPE)
    left, right = _join(_key(callee, args["arg"]), _key(params["function"], params["arg"]))
    sites = np.zeros(len(left), SITE_DTYPE)
    a, p = picked(args, left), picked(params, right)
    ip, function, value, step, outer = (a[name] for name in ("ip", "function", "value", "source", "loop_depth"))
    offset, size, stride = p["offset"], p["size"], p["stride"]
    kind, flags, inner = p["kind"], p["flags"], p["loop_depth"]
    sites["ip"], sites["function"], sites["size"], sites["kind"] = ip, function, size, kind
    sites["target"] = (value + offset).astype(np.uint64)
    sites["stride"] = np.where(step > 0, step, stride)
    sites["flags"] = flags | SiteFlag.VIA_CALL | _indexed(a)
    sites["loop_depth"] = np.minimum(outer.astype(np.int64) + inner, 255)
    sites["rarity"] = _of_new(image, a, p, _with_call(image, ip, if_seldom(p["rarity"])))
    sites["order"] = of_call(image, ip, "order")
    return sites


def through_starts(image: Image, knowledge: Knowledge) -> Table:
    """Accesses that thread entries and callbacks make to the static object that they are handed (SITE_DTYPE).

    ``ip`` and ``function`` are the entry's: it is the new thread that counts.  Of an array whose element is chosen by
    a computed index each thread has another element.
    """
    entries = _entries_with_data(image, knowledge)
    if not entries:
        return np.empty(0, SITE_DTYPE)
    given = np.array(entries, np.int64)
    params = _summaries(image, given[:, 0])
    left, right = _join(_key(given[:, 0], given[:, 3]), _key(params["function"], params["arg"]))
    entry, address, step, _ = given[left].T
    p = params[right]
    offset, stride, flags = p["offset"], p["stride"], p["flags"]
    sites = np.zeros(len(left), SITE_DTYPE)
    for name in ("ip", "size", "kind", "loop_depth", "order"):
        column = p[name]
        sites[name] = column
    sites["function"], sites["rarity"] = entry, if_seldom(p["rarity"])
    sites["target"] = (address + offset).astype(np.uint64)
    sites["stride"] = np.where(step > 0, step, stride)
    element = np.where(step > 0, SiteFlag.INDEXED | SiteFlag.OWN | SiteFlag.GIVEN, 0).astype(np.uint8)
    sites["flags"] = flags | element
    return sites


def _entries_with_data(image: Image, knowledge: Knowledge) -> list[tuple[int, int, int, int]]:
    """(function row of a thread's entry or a callback, static address that it is handed, bytes between elements or 0,
    as which argument).

    Addresses are signed as in the arguments: a kernel's have the top bit.
    """
    found = []
    for one in of_known_objects(image, knowledge):
        if one.data is not None:
            row = int(function_at(image, np.array([one.entry], np.uint64))[0])
            if row >= 0:
                found.append((row, *one.data, one.parameter))
    for given in image.given:
        row = int(function_at(image, np.array([given.entry], np.uint64))[0])
        if row >= 0 and given.data:
            found.append((row, given.data, given.stride, given.parameter))
    return list(dict.fromkeys(found))


def by_name(image: Image, knowledge: Knowledge) -> Table:
    """Accesses made by library functions known by name (atomics, memory functions) to static addresses."""
    table = knowledge.access
    rules = [(p, a, AccessKind.RMW, SiteFlag.ATOMIC) for p, a in table.rmw]
    rules += [(p, a, AccessKind.LOAD, SiteFlag.ATOMIC) for p, a in table.load]
    rules += [(p, a, AccessKind.STORE, SiteFlag.ATOMIC) for p, a in table.store]
    rules += [(p, a, AccessKind.STORE, SiteFlag(0)) for p, a in table.memory_store]
    rules += [(p, a, AccessKind.LOAD, SiteFlag(0)) for p, a in table.memory_load]
    rules += [(p, a, AccessKind.LOAD, SiteFlag.ATOMIC) for p, a in table.once_load]
    prefixes = tuple({p for p, _, _, _ in rules})
    exact = {p for named in (table.memory_store, table.memory_load, table.once_load) for p, _ in named}
    # The generic forms; the sized ones end in _ and take the object first.
    exact |= {"__atomic_exchange", "__atomic_compare_exchange"}
    args = picked(image.args, image.args["kind"] == ArgKind.ADDRESS)
    parts = []
    callee, arg = args["callee"], args["arg"]
    callees = distinct(callee)
    for address, name in zip(callees.tolist(), names_of_callees(image, callees), strict=True):
        if not name.startswith(prefixes):
            continue
        for prefix, number, kind, flags in rules:
            if not (name == prefix or (prefix not in exact and name.startswith(prefix))):
                continue
            rows = args[(callee == address) & (arg == number)]
            sites = np.zeros(len(rows), SITE_DTYPE)
            sites["ip"], sites["function"], sites["loop_depth"] = rows["ip"], rows["function"], rows["loop_depth"]
            sites["target"] = rows["value"].astype(np.uint64)
            sites["size"] = _size_by_name(name)
            sites["stride"] = rows["source"]
            sites["kind"] = kind
            sites["flags"] = flags | SiteFlag.VIA_CALL | _indexed(rows)
            sites["rarity"] = np.minimum(of_call(image, rows["ip"], "rarity"), 255)
            sites["order"] = of_call(image, rows["ip"], "order")
            parts.append(sites)
    return np.concatenate(parts) if parts else np.empty(0, SITE_DTYPE)


def _indexed(args: Table) -> npt.NDArray[np.uint8]:
    """Flags of accesses through these addresses (ArgKind.ADDRESS): of an element at a computed index, or none."""
    flags: npt.NDArray[np.uint8] = np.where(args["source"] > 0, SiteFlag.INDEXED, 0).astype(np.uint8)
    return flags


def _size_by_name(name: str) -> int:
    """__atomic_fetch_add_8, __aarch64_ldadd4_acq_rel: the size is in the name; else one byte is certain."""
    digits = "".join(c if c.isdigit() else " " for c in name).split()
    return int(digits[-1]) if digits and digits[-1] in ("1", "2", "4", "8", "16") else 1


def _summaries(image: Image, entries: Table) -> Table:
    """Parameter accesses of functions by row, their callees' included (PARAM_ROUNDS levels).

    Those of what they pass their arguments on to are among them, as far as they were needed.
    """
    passed, callee = _passed_on(image)
    wanted = _handed_on(len(image.functions), entries, passed["function"], callee)
    within = wanted[passed["function"]]
    passed, callee = picked(passed, within), callee[within]
    function = image.params["function"]
    params = _limit(picked(image.params, (function >= 0) & wanted[function]))
    level = params
    for _ in range(numbers.PARAM_ROUNDS):
        if not len(passed) or not len(level):
            break
        left, right = _join(_key(callee, passed["arg"]), _key(level["function"], level["arg"]))
        if len(left) > MAX_SUMMARY_ROWS:
            break
        fresh, call = picked(level, right), picked(passed, left)
        ip, function, arg, offset, outer = (call[name] for name in ("ip", "function", "source", "value", "loop_depth"))
        inner = fresh["loop_depth"].astype(np.int64)
        fresh["ip"], fresh["function"], fresh["arg"] = ip, function, arg
        fresh["offset"] += offset
        fresh["loop_depth"] = np.minimum(inner + outer, 255)
        rarity = _with_call(image, ip, fresh["rarity"])
        fresh["rarity"] = _of_new(image, call, picked(level, right), rarity)
        fresh["order"] = of_call(image, ip, "order")
        level = _limit(fresh)
        params = _limit(stacked([params, level]))
    return params


def _passed_on(image: Image) -> tuple[Table, Table]:
    """Rows of calls that hand on an argument of their own function, and the functions that they call, of this image."""

    def found() -> tuple[Table, Table]:
        callee = functions_given(image)
        rows = (image.args["kind"] == ArgKind.PARAM) & (image.args["function"] >= 0) & (callee >= 0)
        return picked(image.args, rows), callee[rows]

    return _passed.of(image.args, (image.functions,), found)


def if_seldom(rarity: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """What is said of accesses through arguments: whether they are next to never made, as where errors are told, and no
    more than that.  What is one for all callers, and for several accesses, is not as rare as the rarest of them."""
    return np.where(rarity >= shared.SELDOM, rarity, 0).astype(np.uint8)


def _of_new(image: Image, handed: Table, params: Table, rarity: Table) -> Table:
    """The rarity of accesses through these arguments: what sets up an object of which nobody else knows takes no line
    from anyone, as if it ran next to never.  What is done there in a loop, but for one over its elements, may be what
    the object is made for."""
    if not image.origins or not len(image.origins.new):
        return rarity
    once = ~in_loop(params["loop_depth"]) | (params["flags"] & SiteFlag.WALKS != 0)
    return np.where(once & image.origins.leads_to_new(handed), np.maximum(rarity, shared.SELDOM), rarity)


def _with_call(image: Image, ips: Table, rarity: Table) -> npt.NDArray[np.int64]:
    """How rare in the caller what is so rare in what these calls call."""
    return np.minimum(of_call(image, ips, "rarity").astype(np.int64) + rarity, np.iinfo(np.uint8).max)


def _handed_on(count: int, entries: Table, caller: Table, callee: Table) -> npt.NDArray[np.bool_]:
    """Which functions take an argument that one of ``entries`` was handed, itself included."""
    wanted = np.zeros(count, bool)
    wanted[entries] = True
    for _ in range(numbers.PARAM_ROUNDS):
        wanted[callee[wanted[caller]]] = True
    return wanted


def _limit(params: Table) -> Table:
    """One row per (function, argument, offset, size, kind), the deepest loop and the least rare place kept, at most
    MAX_CALLEE_ROWS each."""
    if not len(params):
        return np.empty(0, PARAM_DTYPE)
    # function, argument (< 8), offset (+-1 MiB), size, kind in one key of 63 bits: one sort instead of six.
    function, size = params["function"].astype(np.int64), params["size"].astype(np.int64)
    arg, offset, kind = params["arg"], params["offset"], params["kind"]
    key = function << 3 | arg
    key = key << 22 | (np.clip(offset, -OFFSET_LIMIT, OFFSET_LIMIT - 1) + OFFSET_LIMIT)
    key = key << 15 | np.minimum(size, 4095) << 3 | kind
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    first = np.flatnonzero(leading(ordered))
    rows = picked(params, order[first])
    rows["loop_depth"] = np.maximum.reduceat(params["loop_depth"][order], first)
    rows["rarity"] = np.minimum.reduceat(params["rarity"][order], first)
    key = _key(rows["function"], rows["arg"])
    first = np.flatnonzero(leading(key))
    begin = np.repeat(first, np.diff(first, append=len(key)))
    return picked(rows, np.arange(len(rows)) - begin < MAX_CALLEE_ROWS)


def _key(function: Table, arg: Table) -> Table:
    return function.astype(np.int64) * 256 + arg.astype(np.int64)


def _join(left: Table, right: Table) -> tuple[Table, Table]:
    """Row pairs with equal keys; ``right`` need not be sorted."""
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    low = np.searchsorted(ordered, left, "left")
    counts = np.searchsorted(ordered, left, "right") - low
    rows = np.repeat(np.arange(len(left)), counts)
    if not len(rows):
        return rows, rows
    starts = np.repeat(low - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
    return rows, order[starts + np.arange(len(rows))]
