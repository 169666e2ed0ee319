"""Thread entries: which functions of an image run on threads of their own, by the calls that start them.

Owns the way from a call that creates a thread to the function that runs there: through wrappers that pass their own
argument on, through records (``indirectentries``), through tables of functions that hold such a wrapper, and through
objects whose class says what a thread does.
Says nothing of what these threads reach or do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having, those_having
from sharing.knowledge import Knowledge
from sharing.knowledge.threadclasses import thread_classes
from sharing.model.arrays import among, distinct, picked, union
from sharing.model.image import ArgKind, FunctionFlag, Image, SectionKind, Table
from sharing.static import numbers
from sharing.static.callees import Argument, function_at, function_name, functions_called, names_of_callees, passed_on
from sharing.static.functionvalues import by_go, function_objects, made_values
from sharing.static.guardedstarts import behind_its_mark
from sharing.static.hiddenentries import hidden_entries
from sharing.static.indirectentries import calls_pointers, handed_on, kept_for
from sharing.static.kernelstarts import HOLDERS, idle_imports, making_processes
from sharing.static.objectentries import calls_methods, object_entries
from sharing.static.objectstarts import object_starts, started_once, starting_objects, takes_objects
from sharing.static.oncemade import one_of_its_class
from sharing.static.startarms import apart, several_of
from sharing.static.storedentries import stored_entries
from sharing.static.virtualentries import virtual_entries

LAST_ARGUMENT = 5  # argument that is handed over in a register
ADDRESS, CONSTANT = int(ArgKind.ADDRESS), int(ArgKind.CONSTANT)


@dataclass(frozen=True, slots=True)
class Root:
    """One way a thread starts: a function (row of the function table, -1 for a pseudo root)."""

    name: str
    function: int
    many: bool  # more than one such thread can run at a time
    waited_in: frozenset[int] = frozenset()  # functions that start it, where all of these wait until it has ended
    is_task: bool = False  # a pool's thread runs it again and again, among others
    is_marked: bool = False  # it is started where a variable tells that it does not run yet (``guardedstarts``)
    is_perhaps_many: bool = False  # ``many``, but nothing that was seen starts a second one: callers of a library may
    is_part: bool = False  # a stretch of such a thread (``stretches``), another one of which has its own root
    started: frozenset[int] = frozenset()  # addresses of all calls that start it, or make what does; none: unknown


def created(image: Image, knowledge: Knowledge, mains: set[int]) -> tuple[list[Root], list[str]]:
    """Thread entries by creation calls, and the names of the imported functions that create threads."""
    args, go, looped = image.args, by_go(image), _in_loop(image.calls)
    callees = union(args["callee"], image.calls["callee"][go | _creating(image, knowledge)])
    inverse = np.searchsorted(callees, args["callee"])
    wanted, many, waits = _asked(image, knowledge, callees)
    pointed, in_loop, by_chance = _Pointed(image), _in_loop(args), _left_in_registers(image, knowledge)
    often, through_pointers = _called_often(image, looped, mains), calls_pointers(image)
    found, frequent = dict[int, list[bool]](), set[int]()  # by entry its starts; entries that are started often
    waited: dict[int, list[int]] = {}  # by entry the functions that start it and wait
    places: dict[int, list[int]] = {}  # by entry the calls that start it, with 0 for those that are not known
    starters: dict[int, int] = {}  # addresses of functions that are handed objects, and the entry that they start

    def start(row: int, starter: int, ip: int, *, several: bool) -> None:
        """This function runs on a thread of its own, which that one starts."""
        if _without_known(image, [row]):
            _note(found, places, row, ip, several=several)
            if often[starter] and not (behind_its_mark(image, ip, row) or one_of_its_class(image, row, starter, often)):
                frequent.add(row)
        if 0 <= starter != row and through_pointers[row]:  # perhaps what that one was handed
            wanted.update(handed := handed_on(image, starter, row, callees), kept_for(image, starter, row, callees))
            many.update((key, True) for key in handed if several)  # one run of it starts them: all do what it is handed
            starters[int(image.functions["address"][starter])] = row

    def start_argument(at: int, *, several: bool, waiting: bool = False) -> None:
        row = int(function_at(image, args["value"][at : at + 1].astype(np.uint64))[0])
        if row >= 0 and (int(args["callee"][at]), int(args["function"][at]), row) not in by_chance:
            start(row, int(args[at]["function"]), int(args[at]["ip"]), several=several or bool(in_loop[at]))
            if waiting:
                waited.setdefault(row, []).append(int(args[at]["function"]))

    for row, call in chain(_chosen(image, knowledge, callees, wanted), _values(image, callees, wanted, go)):
        start(row, *_caller_of(image, call), several=bool(looped[call]))
    for row, call in _functions_of_objects(image, knowledge):
        start(row, *_caller_of(image, call), several=True)
    for at, key, wrapper in passed_on(image, callees, inverse, wanted, _processes(image, callees)):
        if wrapper is None:
            start_argument(at, several=many.get(key, False), waiting=key in waits)
            continue
        many[wrapper] = bool(in_loop[at]) or many.get(key, False)
        waits.update((wrapper,) if key in waits else ())
        for handed in pointed.through(at):
            start_argument(handed, several=many[wrapper])
    for row, ip, several in _loaded_entries(image, knowledge, callees, often):
        _note(found, places, row, ip, several=several)
    objects = dict[int, bool]()
    for row, call in _handed_as_objects(image, mains, starters):
        maker, ip = _caller_of(image, call)
        objects[row] = objects.get(row, False) or bool(looped[call] or often[maker])
        places.setdefault(row, []).append(ip)
        found.pop(starters.get(int(image.calls["callee"][call]), -1), None)  # its caller does nothing else for long
    for row, several in objects.items():
        found.setdefault(row, []).append(several)
    for row, call, several in _given_entries(image, set(found), looped):
        start(row, *_caller_of(image, call), several=several)
    entries, tasks = _by_name(image, knowledge, set(found))
    for row, once in started_once(image, knowledge, entries, often).items():
        found.setdefault(row, []).append(row in tasks or not once)
    places.update(_places_of_methods(image, knowledge, entries, found))
    started = _roots(image, found, waited, tasks, places, several_of(image, found, places, frequent, looped, mains))
    return started, _creators(image, knowledge)


def _note(found: dict[int, list[bool]], places: dict[int, list[int]], row: int, ip: int, *, several: bool) -> None:
    """Another start of a function, but for one by a second argument of a call that is known."""
    if several or ip not in places.get(row, ()):
        found.setdefault(row, []).append(several)
        places.setdefault(row, []).append(ip)


def _places_of_methods(
    image: Image, knowledge: Knowledge, entries: list[int], found: dict[int, list[bool]]
) -> dict[int, list[int]]:
    """Of what objects' classes bring; 0 where that is not known."""
    unknown = {row: [0] for row in (*entries, *_add_methods(image, found))}
    return unknown | object_starts(image, entries, starting_objects(image, knowledge))


def _add_methods(image: Image, found: dict[int, list[bool]]) -> set[int]:
    """Adds what entries that were found call of their objects; its rows."""
    methods = list(chain.from_iterable(virtual_entries(image, row) for row in list(found)))
    for method, several in methods:
        found.setdefault(method, []).append(several)
    return {method for method, _ in methods}


def _creators(image: Image, knowledge: Knowledge) -> list[str]:
    return [name for name in sorted(image.imports - idle_imports(image)) if knowledge.starts_thread(name)]


def _loaded_entries(
    image: Image, knowledge: Knowledge, callees: npt.NDArray[np.uint64], often: npt.NDArray[np.bool_]
) -> Iterator[tuple[int, int, bool]]:
    """(row of a function, address of the call, whether it is started several times) as of ``stored_entries``."""
    names = names_of_callees(image, callees)
    rows = {i: knowledge.thread_start(names[i]) for i in knowledge.thread_starters(names) if names[i][:2] != "_Z"}
    sure = {(i, row.entry_argument) for i, row in rows.items() if row is not None and row.entry_argument is not None}
    inverse = np.searchsorted(callees, image.args["callee"])
    wrappers = [wrapper for _, _, wrapper in passed_on(image, callees, inverse, sure) if wrapper is not None]
    starting = [(int(callees[callee]), argument) for callee, argument in {*sure, *wrappers} if callee >= 0]
    for one in stored_entries(image, starting):
        several = bool(often[one.starter]) or one.looped if one.alone else _handed_often(image, one.function)
        yield one.function, one.ip, several


def _handed_often(image: Image, function: int) -> bool:
    """Is this one of several functions handed over more than once?  So often a thread is started in it."""
    rows = picked(image.args, (image.args["kind"] == ArgKind.ADDRESS) & (image.args["source"] == 0))
    rows = picked(rows, rows["value"].astype(np.uint64) == image.functions["address"][function])
    return len(rows) > 1 or bool(_in_loop(rows).any())


def _processes(image: Image, callees: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Rows of arguments that a call which makes a process is handed."""
    names = zip(callees.tolist(), names_of_callees(image, callees), strict=True)
    cloning = [address for address, name in names if name in HOLDERS]
    return making_processes(image, cloning) if cloning else np.zeros(len(image.args), bool)


def _chosen(
    image: Image, knowledge: Knowledge, callees: npt.NDArray[np.uint64], wanted: set[Argument]
) -> list[tuple[int, int]]:
    """As of ``hidden_entries``; not for callable objects where none of the program's calls a function that it holds.

    What such an object runs is in its class: functions that its maker handles as well are tasks, for example.  Nor in
    functions of a library linked in that start threads: they pass on what they are handed.
    """
    run = _runs(image)
    once = calls_pointers(image, once=True)
    if len(run) and not once[run].any() and not any(_holds_function(image, row) for row in run):
        objects = {callee for callee, argument in wanted if argument == 1 and (callee, LAST_ARGUMENT) in wanted}
        wanted = {(callee, argument) for callee, argument in wanted if callee not in objects}
    every = dict.fromkeys(hidden_entries(image, callees, wanted))  # one, whichever of its arguments it is
    told = {one.ip for one in image.given}  # what these calls hand over needs no guess
    every = {one: None for one in every if int(image.calls["ip"][one[1]]) not in told}
    found = [one for one in every if not knowledge.starts_thread(function_name(image, _caller_of(image, one[1])[0]))]
    # The end of a container is handed nothing: it stands for what fills that, where this was not seen.
    ends = having(image.calls, "callee", [at for at, name in image.callee_names.items() if _takes_nothing(name)])
    ends |= having(image.calls, "callee", callees[[_takes_nothing(name) for name in names_of_callees(image, callees)]])
    filled = {row for row, call in found if not ends[call]}
    filled.update(function_at(image, np.array([one.entry for one in image.given], np.uint64)).tolist())
    # What the library itself has there, as how a result is freed, is no thread's.
    filled.update(row for row, _ in found if function_name(image, row).startswith("_ZNSt"))
    return [(row, call) for row, call in found if not ends[call] or row not in filled]


def _takes_nothing(name: str) -> bool:
    """Is it a method of C++ without parameters, as a destructor?  ``v`` stands for none (Itanium C++ ABI, 5.1.5.3)."""
    return name.startswith("_ZN") and name.partition(".")[0].endswith("Ev")


def _holds_function(image: Image, row: int) -> bool:
    """Whether the class of such an object says that it holds a pointer to a function or method as what it runs.

    Without optimisation the call is in a helper, some calls away.
    """
    name = function_name(image, row)
    return any(f"tupleIJ{pointer}" in name for pointer in ("PF", "M"))


def _values(
    image: Image, callees: npt.NDArray[np.uint64], wanted: set[Argument], go: npt.NDArray[np.bool_]
) -> Iterator[tuple[int, int]]:
    """(row of a function, row of the call) of Go's function values that are handed over where one is ``wanted``."""
    for callee, argument in sorted(wanted) if go.any() else ():
        yield from made_values(image, callees[callee : callee + 1], argument)


def _by_name(image: Image, knowledge: Knowledge, found: set[int]) -> tuple[list[int], set[int]]:
    """Entries that no call shows, by their names or classes, beside those ``found``; and those that are tasks."""
    named, tasks = _named_entries(image, knowledge, found)
    methods = _methods(image, {*found, *named, *tasks})
    others = [at for at in (*named, *tasks) if at not in found]
    return list(dict.fromkeys((*others, *methods))), set(tasks)


def _given_entries(image: Image, known: set[int], looped: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int, bool]]:
    """(row of a function that closures or records of threads lead to, row of a call that makes one, whether it makes
    several); of those ``known`` only what makes several."""
    given: dict[int, dict[int, bool]] = {}
    for one in image.given:
        row = int(function_at(image, np.array([one.entry], np.uint64))[0])
        for call in np.flatnonzero(image.calls["ip"] == np.uint64(one.ip)).tolist():
            starts = given.setdefault(row, {})
            starts[call] = one.alone and starts.get(call, True)
    for row, starts in given.items():
        # Of the arms that start it one in a loop stands for the rest.
        for call in apart(image, sorted(starts, key=lambda call: not looped[call])):
            several = bool(looped[call]) and not starts[call]
            if several or row not in known:
                yield row, call, several


def _left_in_registers(image: Image, knowledge: Knowledge) -> set[tuple[int, int, int]]:
    """(address of what starts the thread of an object, row of who calls it, row of a function) of functions that stand
    in the object: what a register still has of them is no second start."""
    if not image.given:
        return set()
    takers = [at for at, name in image.callee_names.items() if takes_objects(knowledge, name)]
    ips = np.array([one.ip for one in image.given], np.uint64)
    makers = dict(those_having(image.calls, "ip", ips)[["ip", "function"]].tolist())
    entries = function_at(image, np.array([one.entry for one in image.given], np.uint64)).tolist()
    return {
        (taker, makers.get(one.ip, -1), row) for one, row in zip(image.given, entries, strict=True) for taker in takers
    }


def _caller_of(image: Image, call: int) -> tuple[int, int]:
    """(row of the function, address) of the call of this row."""
    return int(image.calls["function"][call]), int(image.calls["ip"][call])


def _creating(image: Image, knowledge: Knowledge) -> npt.NDArray[np.bool_]:
    """Calls of what creates threads by its name, of whose arguments nothing may be known."""
    found = [address for address, name in image.callee_names.items() if knowledge.starts_thread(name)]
    return having(image.calls, "callee", found)


def _handed_as_objects(image: Image, mains: set[int], starters: dict[int, int]) -> Iterator[tuple[int, int]]:
    """(row of a function, row of the call that hands it over in an object) for ``starters``, as of ``created``.

    Where what is found runs an object of its own, a box, whoever made that one was handed the box by a caller, or by a
    caller's caller: crates of threads hand one closure to std, which calls that of the program.
    """
    calls, unboxes = image.calls, calls_methods(image)
    asked = set(starters)
    fresh = asked
    for level in range(numbers.ENTRY_WRAPPERS):
        handed_to = np.array(sorted(fresh), np.uint64)
        makers: set[int] = set()
        found: set[int] = set()
        for row, call in chain(object_entries(image, handed_to), made_values(image, handed_to)):
            yield row, call
            found.add(int(calls["function"][call]))
            if unboxes[row]:
                makers.add(int(calls["function"][call]))
        if level:
            makers |= set(calls["function"][having(calls, "callee", handed_to)].tolist()) - found
        fresh = {int(image.functions["address"][row]) for row in makers - mains if row >= 0} - asked
        asked |= fresh


def _roots(
    image: Image,
    found: dict[int, list[bool]],
    waited: dict[int, list[int]],
    tasks: set[int],
    places: dict[int, list[int]],
    repeated: set[int],
) -> list[Root]:
    """``found``: by function, of each of its starts whether that makes several; ``waited``: who starts it and waits;
    ``places``: by which calls; ``repeated``: those that several starts, or one that is come to often, make several of.
    """
    always = {at: frozenset(by) for at, by in waited.items() if len(by) == len(found.get(at, ()))}
    known = {at: frozenset(ips) for at, ips in places.items() if all(ips)}
    return [
        Root(
            function_name(image, at),
            at,
            at in repeated or any(times),
            always.get(at, frozenset()),
            at in tasks,
            times == [False] and at not in repeated and any(behind_its_mark(image, ip, at) for ip in known.get(at, ())),
            started=known.get(at, frozenset()),
        )
        for at, times in sorted(found.items())
    ]


def _runs(image: Image) -> npt.NDArray[np.int64]:
    """Rows of the virtual functions that a library runs on threads."""
    runs = {(row.typeinfo, row.slot) for row in thread_classes()}
    methods = [one.function for one in image.overrides if (one.base, one.slot) in runs]
    rows = distinct(function_at(image, np.array(methods, np.uint64)))
    return np.asarray(rows[rows >= 0], np.int64)


def _methods(image: Image, found: set[int]) -> list[int]:
    """Virtual functions that a library runs on threads, but those that only call an entry that was ``found``."""
    rows = _runs(image)
    calls = those_having(image.calls, "function", rows)
    leads = among(function_at(image, calls["callee"]), np.array(sorted(found), np.int64))
    result: list[int] = rows[~among(rows, calls["function"][leads])].tolist()
    return _without_known(image, result)


def _without_known(image: Image, rows: list[int]) -> list[int]:
    """Without closures that do nothing but call a function that is known: the thread is that function's."""
    known = {one.caller: one.is_whole for one in sorted(image.given, key=lambda one: one.is_whole)}
    starts = image.functions["address"][rows].tolist()
    return [
        row
        for row, at in zip(rows, starts, strict=True)
        if not (known.get(at) or (at in known and (_only_calls_pointers(image, row) or _holds_function(image, row))))
    ]


def _named_entries(image: Image, knowledge: Knowledge, found: set[int]) -> tuple[list[int], list[int]]:
    """Functions that are entries by their names, but for parts of those ``found``, which call them; and tasks."""
    names = [image.names[nm] if nm >= 0 else "" for nm in image.functions["name"].tolist()]
    rows = [
        at for at in knowledge.thread_entries(names) if _is_qualified(names[at]) and not names[at].endswith(".cold")
    ]
    calls = image.calls
    parts = set(function_at(image, calls["callee"][having(calls, "function", list(found))]).tolist())
    entries = [at for at in rows if at not in parts and not _only_calls_pointers(image, at)]
    return _without_known(image, entries), [at for at in knowledge.pool_tasks(names) if at not in found]


def _is_qualified(name: str) -> bool:
    """C++ or Rust: libraries of C are handed their entries, and most programs have many functions."""
    return name.startswith("_Z") or "::" in name


def _only_calls_pointers(image: Image, function: int) -> bool:
    """What is called so runs on whichever thread has handed it over: the main one, too."""
    calls = image.calls["callee"][image.calls["function"] == function]
    return bool(len(calls)) and not calls.any() and not np.any(image.sites["function"] == function)


def _asked(
    image: Image, knowledge: Knowledge, callees: npt.NDArray[Any]
) -> tuple[set[Argument], dict[Argument, bool], set[Argument]]:
    """Arguments of known functions that are thread entries; which of those functions start several threads at once, and
    which wait until these have ended."""
    wanted: set[Argument] = set()
    many: dict[Argument, bool] = {}
    waits: set[Argument] = set()
    names = names_of_callees(image, callees)
    starters = set(knowledge.thread_starters(names))
    for i, name in enumerate(names):
        row = knowledge.thread_start(name) if i in starters else None
        if row is not None and row.entry_argument is not None:
            wanted.add((i, row.entry_argument))
            many[(i, row.entry_argument)] = row.many
            if row.waits:
                waits.add((i, row.entry_argument))
        elif not image.origins and knowledge.takes_entry(name):  # in source starts are seen, whatever names mention
            wanted.update((i, argument) for argument in range(1, LAST_ARGUMENT + 1))
        elif row is not None and name.startswith("_Z"):  # a callable object whose place varies
            wanted.update((i, argument) for argument in range(LAST_ARGUMENT + 1))
            many.update(((i, argument), row.many) for argument in range(LAST_ARGUMENT + 1))
    return wanted, many, waits


def _functions_of_objects(image: Image, knowledge: Knowledge) -> Iterator[tuple[int, int]]:
    """(row of a function, row of the call) of what a ``std::function`` holds that starts a thread."""
    for row, call in function_objects(image, _handed_objects(image, knowledge)):
        if "_M_manager" not in function_name(image, row):
            yield row, call


def _handed_objects(image: Image, knowledge: Knowledge) -> npt.NDArray[np.uint64]:
    """Addresses of imported functions that start threads and are handed a ``std::function``."""
    names = image.callee_names.items()
    found = [at for at, name in names if "St8function" in name and knowledge.starts_thread(name)]
    return np.array(found, np.uint64)


class _Pointed:
    """Functions of this image that calls through pointers are handed."""

    def __init__(self, image: Image) -> None:
        self._image = image
        args = image.args
        self._ips = np.ascontiguousarray(args["ip"])
        rows = np.flatnonzero((args["callee"] == 0) & (args["kind"] == ArgKind.ADDRESS))
        rows = rows[function_at(image, args["value"][rows].astype(np.uint64)) >= 0]
        # By row of the arguments, which argument it is, and all that the same call passes: (argument, kind, value).
        self._handed = [
            (row, arg, self._call(row)) for row, arg in zip(rows.tolist(), args["arg"][rows].tolist(), strict=True)
        ]

    def through(self, at: int) -> list[int]:
        """Rows of those that are entries because a wrapper is called through a pointer.

        ``at`` is the row where the wrapper passes its own argument on.  Services that can be replaced are tables of
        functions, one of which starts threads: whoever wants a thread calls through the table.  Which table a call goes
        through is not known.  It is taken for this wrapper's where it has a function at the place of the entry and data
        at the place of something else that the wrapper hands to the same call (the handle, the attributes); registers
        that hold a function by chance, as after a comparison, have none.
        """
        args = self._image.args
        wrapper, own, source = int(args["function"][at]), int(args["arg"][at]), int(args["source"][at])
        if not self._image.functions["flags"][wrapper] & FunctionFlag.ADDRESS_TAKEN:
            return []
        if _takes_nothing(names_of_callees(self._image, args["callee"][at : at + 1])[0]):
            return []
        call = args[self._rows(at)]
        passed = picked(call, (call["kind"] == ArgKind.PARAM) & (call["arg"] != own))
        beside = set(passed["source"].tolist()) - {source}
        chosen = []
        for row, arg, handed in self._handed:
            if arg != source:
                continue
            others = [(kind, value) for number, kind, value in handed if number in beside]
            data = [_is_data(self._image, value) for kind, value in others if kind == ADDRESS]
            sizes = [value for kind, value in others if kind == CONSTANT and value]
            if data and all(data) and not sizes:
                chosen.append(row)
        return chosen

    def _call(self, row: int) -> list[tuple[int, int, int]]:
        call = self._image.args[self._rows(row)]
        arg, kind, value = call["arg"], call["kind"], call["value"]
        return list(zip(arg.tolist(), kind.tolist(), value.tolist(), strict=True))

    def _rows(self, at: int) -> slice:
        """Of all arguments that the call of this row passes."""
        ip = self._ips[at]
        return slice(int(np.searchsorted(self._ips, ip)), int(np.searchsorted(self._ips, ip, "right")))


def _is_data(image: Image, address: int) -> bool:
    """Is it the address of something that the program may write?"""
    return any(s.kind is SectionKind.WRITABLE and s.address <= address < s.end for s in image.sections)


def _in_loop(rows: Table) -> npt.NDArray[np.bool_]:
    """Is a thread that is started here started several times?  Not where loops are implausibly many."""
    depth = rows["loop_depth"]
    result: npt.NDArray[np.bool_] = (depth > 0) & (depth < numbers.IMPLAUSIBLE_STARTS)
    return result


def _called_often(image: Image, looped: npt.NDArray[np.bool_], mains: set[int]) -> npt.NDArray[np.bool_]:
    """Functions that are called in a loop (``looped``: calls that are), from several places or through pointers.

    None of ``mains`` is.  The element behind the last function, which row -1 reads, stands for code of no function.
    """
    n = len(image.functions)
    callee = functions_called(image)
    own = callee >= 0
    often = np.bincount(callee[own], minlength=n) > 1
    often |= np.bincount(callee[own & looped], minlength=n) > 0
    often |= image.functions["flags"] & FunctionFlag.ADDRESS_TAKEN != 0
    often = np.append(often, False)
    often[list(mains)] = False
    return often
