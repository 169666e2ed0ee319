"""Where the threads of an image begin: main, the entries that it hands over, and every way into a library or kernel.

Owns what is assumed where no start of a thread is seen, and says in words how the threads are known.  The calls that
start threads are ``starts``'s, what the threads reach ``callgraph``'s.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Set

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having
from sharing.knowledge import Knowledge
from sharing.knowledge.runtimes import beginnings, starts_threads
from sharing.model.image import ArgKind, FunctionFlag, Image, ImageKind
from sharing.model.plural import count
from sharing.static.callees import function_at, functions_called
from sharing.static.kernelstarts import idle_imports, loads_code, loads_threads, without_names
from sharing.static.starts import Root, created

LIBRARIES = (ImageKind.SHARED, ImageKind.RELOCATABLE, ImageKind.KERNEL, ImageKind.MODULE)
_ALL_CODE = {ImageKind.KERNEL: "kernel entry points", ImageKind.MODULE: "module entry points"}
_MAINS = ("main", "main.main")  # the latter is Go's

Bools = npt.NDArray[np.bool_]


class ThreadStructure(msgspec.Struct, frozen=True):
    """How threads start: ``base`` are functions that may be entered at any time; the rest as of ``CallGraph``."""

    roots: list[Root]
    base: Bools
    how: str
    threaded: bool
    unknown: str = ""


class Elsewhere(msgspec.Struct, frozen=True):
    """What other files do with functions that a program hands them, in words: ``starts`` what speaks for threads;
    ``missing`` libraries that are handed some and were not found; ``threaded`` those that start threads of their own,
    on which nothing that they are handed is seen to run."""

    starts: str = ""
    missing: str = ""
    threaded: str = ""


LookElsewhere = Callable[[Image], Elsewhere]


def flagged(image: Image, flags: int) -> Bools:
    """Functions with one of these flags."""
    result: Bools = (image.functions["flags"] & flags) != 0
    return result


def thread_structure(
    image: Image,
    knowledge: Knowledge,
    *,
    assume_threads: bool,
    look_elsewhere: LookElsewhere | None = None,
    presumed: Set[str] = frozenset(),
) -> ThreadStructure:
    """``assume_threads``: where no start of a thread is seen, functions that may be entered run on several.
    ``presumed``: names of functions that are taken for entries of several threads."""
    if image.kind in LIBRARIES:
        return _of_library(image, knowledge)
    mains = main_roots(image)
    made, creators = created(image, knowledge, {root.function for root in mains})
    named = enumerate(image.functions["name"].tolist()) if presumed else ()
    made += [Root(image.names[name], row, True) for row, name in named if name >= 0 and image.names[name] in presumed]
    roots = _one_main(_each_once(mains + made))
    nowhere = np.zeros(len(image.functions), bool)
    entries = [root for root in roots if root.name != "main"]
    if {root.name for root in entries} - beginnings(image.imports):
        many = sum(root.many for root in entries)
        found = count(len(entries), "thread entry", "thread entries")
        return ThreadStructure(roots, nowhere, f"{found} found, {many} of them started more than once", True)
    if assume_threads:
        anybody = Root("functions called through pointers or from outside", -1, True)
        base = _ways_in(image, FunctionFlag.ADDRESS_TAKEN | FunctionFlag.EXPORTED)
        how = f"assumed: {anybody.name} may run on several threads at once"
        return ThreadStructure([*roots, anybody], base, how, True)
    elsewhere, unknown = Elsewhere(), _unknown(image, creators, entries)
    if not unknown and look_elsewhere is not None:
        elsewhere = look_elsewhere(image)
        unknown = elsewhere.starts
    if not unknown:
        loaded = loads_code(image)
        but = f"; what it loads (dlopen: {loaded}) may, which is not seen here" if loaded else ""
        but += f"; {elsewhere.missing} may, which is handed functions and was not found" if elsewhere.missing else ""
        own = f"{elsewhere.threaded} does, and is handed functions that are not seen to run there"
        but += f"; {own}" if elsewhere.threaded else ""
        return ThreadStructure(roots, nowhere, f"nothing in this image starts a thread{but}", False)
    if not creators and not entries:
        how = f"thread structure unknown: {unknown}, and no start of a thread is seen; nothing is judged"
        return ThreadStructure(roots, nowhere, f"{how} without --assume-threads", False, unknown)
    anybody = Root("functions called through pointers", -1, True)
    how = f"thread structure unknown: {unknown}, its entry is not visible; address-taken functions may run on any"
    return ThreadStructure(
        [*roots, anybody], _ways_in(image, FunctionFlag.ADDRESS_TAKEN), f"{how} thread", True, unknown
    )


def _unknown(image: Image, creators: list[str], entries: list[Root]) -> str:
    """What says that threads may run here though no function is seen that the program has them run; "" nothing does."""
    if entries:
        return f"threads begin in {entries[0].name}"
    return starts_threads(image, creators, idle_imports(image)) or without_names(image) or loads_threads(image)


def _of_library(image: Image, knowledge: Knowledge) -> ThreadStructure:
    """Whoever calls it may do so on several threads at once; some libraries start threads as well."""
    exported = flagged(image, FunctionFlag.EXPORTED)
    if image.kind in _ALL_CODE:
        base = _code(image) & _entered(image)
    else:
        base = _ways_in(image, FunctionFlag.EXPORTED | FunctionFlag.ADDRESS_TAKEN)
    callers = Root(_ALL_CODE.get(image.kind, "exported functions"), -1, True)
    how = f"any of the {callers.name} may run on several threads at once"
    if image.kind is not ImageKind.SHARED:
        return ThreadStructure([callers], base, how, True)
    # Callers decide how often a library starts its threads, but of those that it sees to be running.
    own = [
        dataclasses.replace(root, many=not root.is_marked, is_perhaps_many=not (root.many or root.is_marked))
        for root in created(image, knowledge, set())[0]
    ]
    base[[root.function for root in own if not exported[root.function]]] = False
    if own:
        how += f"; {len(own)} thread entries of the library's own"
    return ThreadStructure([callers, *own], base, how, True)


def _entered(image: Image) -> Bools:
    """Functions of a kernel or module that others than its own direct calls lead to, as far as that is known.

    What nobody calls directly is entered all the same: from code that is no function, or by a table of distances.
    """
    called = np.zeros(len(image.functions), bool)
    row = functions_called(image)
    called[row[row >= 0]] = True
    return flagged(image, FunctionFlag.ADDRESS_TAKEN | for_others(image)) | ~called


def for_others(image: Image) -> FunctionFlag:
    """The mark of functions that other files may call: without a table of exports, all that are global."""
    exports = image.kind is ImageKind.MODULE or bool(flagged(image, FunctionFlag.FOR_MODULES).any())
    return FunctionFlag.FOR_MODULES if exports else FunctionFlag.EXPORTED


def _ways_in(image: Image, flags: int) -> Bools:
    """The code with one of these flags, or all code where none has one."""
    base = _code(image) & flagged(image, flags)
    return base if base.any() else _code(image)


def _code(image: Image) -> Bools:
    return ~flagged(image, FunctionFlag.INIT | FunctionFlag.STUB)


def main_roots(image: Image) -> list[Root]:
    """The entry point, main by its name, and main as the start-up code knows it: as far as they are seen."""
    started = function_at(image, np.array(image.entry_points, np.uint64))
    names = enumerate(image.functions["name"].tolist())
    named = [row for row, name in names if name >= 0 and image.names[name] in _MAINS]
    rows = (*started[started >= 0].tolist(), *named, *_main_argument(image))
    return [Root("main", row, False) for row in rows]


def _main_argument(image: Image) -> list[int]:
    """main of a stripped program: the first argument that start-up code passes to __libc_start_main."""
    starters = [a for a, name in image.callee_names.items() if name in ("__libc_start_main", "__libc_start_call_main")]
    args = image.args
    chosen = (args["arg"] == 0) & (args["kind"] == ArgKind.ADDRESS)
    rows = function_at(image, args["value"][chosen & having(args, "callee", starters)].astype(np.uint64))
    first: list[int] = rows[rows >= 0][:1].tolist()
    return first


def _each_once(roots: list[Root]) -> list[Root]:
    """A function that is the entry of several kinds of threads is one root, and runs on many."""
    merged: dict[int, Root] = {}
    for root in roots:
        old = merged.get(root.function)
        several = root.many or (old is not None and (old.many or old.name != "main"))
        merged[root.function] = dataclasses.replace(root, many=several)
    return list(merged.values())


def _one_main(roots: list[Root]) -> list[Root]:
    """_start, main and its argument are one thread: keep the one that reaches most, the others follow it."""
    mains = [root for root in roots if root.name == "main"]
    return mains[-1:] + [root for root in roots if root.name != "main"]
