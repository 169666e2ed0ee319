"""The rows that say what a library's locks and thread functions are called and do.

Owns the one schema of ``sharing/knowledge/libraries/*.json``, of ``linemate.toml`` and of the rows that the analyzer is
given; what each key means is explained in ``docs/vocabulary.md``.  Looks nothing up.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator

import msgspec

Names = str | tuple[str, ...]
ByteRanges = tuple[tuple[int, int], ...]

MAX_ARGUMENT = 64


class LockKind(enum.StrEnum):
    MUTEX = "mutex"
    RWLOCK = "rwlock"
    SPINLOCK = "spinlock"
    RWSEM = "rwsem"
    SEQLOCK = "seqlock"
    SEMAPHORE = "semaphore"
    CONDITION = "condition variable"
    WAIT_QUEUE = "wait queue"
    BARRIER = "barrier"
    LATCH = "latch"
    EVENT = "event"
    ONCE = "once flag"


class CallbackThread(enum.StrEnum):
    """Which thread calls a function that a library was handed."""

    CALLER = "caller"  # the one that hands it over, before the call returns
    ONCE = "once"  # the same, unless another one did before
    LOOP = "loop"  # those that run the library's event loop
    ANY = "any"  # a signal: whichever runs


class LockAbi(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Byte ranges of a lock under one ABI: written by lock and unlock (hot), only read by them (read)."""

    size: int
    hot: ByteRanges
    read: ByteRanges = ()


class LockCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A function whose argument number ``argument`` is the lock; ``this`` is 0 of a method.

    ``success`` is what an attempt returns when the lock is held: 0, or 1 for anything else; None as its row says.
    """

    function: str
    argument: int = 0
    success: int | None = None


class WaitCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A function that waits on the object at ``argument`` and meanwhile releases the lock at ``releases``.

    ``of`` names the row of that lock; "" where the argument is a guard or its type says it.
    """

    function: str
    argument: int = 0
    releases: int | None = None
    of: str = ""


Called = str | LockCall


class LockRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One lock, by the names of its types.

    A name that begins with a dot is a method of each of the types; a row that names none has the usual ones.  ``hot``
    and ``read`` hold for every ABI that ``abi`` does not name.
    """

    type: Names
    name: str = ""
    kind: LockKind = LockKind.MUTEX
    abi: dict[str, LockAbi] = {}
    hot: ByteRanges = ()
    read: ByteRanges = ()
    lock: tuple[Called, ...] = ()
    lock_shared: tuple[Called, ...] = ()
    try_lock: tuple[Called, ...] = ()
    try_lock_shared: tuple[Called, ...] = ()
    unlock: tuple[Called, ...] = ()
    unlock_shared: tuple[Called, ...] = ()
    use: tuple[Called, ...] = ()  # changes the object, nobody holds anything because of it
    wait: tuple[str | WaitCall, ...] = ()
    init: tuple[Called, ...] = ()
    success: int = 1
    source: str = ""

    @property
    def types(self) -> tuple[str, ...]:
        return listed(self.type)

    @property
    def label(self) -> str:
        """What the row is called, in facts as well."""
        return self.name or next(iter(self.types), "")


class GuardRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A class whose objects hold a lock while they live.

    ``of`` names the row of the lock that it takes, "" for the one that its template argument names; ``argument`` is the
    constructor's argument for the lock, ``this`` is 0.  ``defer``, ``adopt`` and ``attempt`` are types of arguments by
    which the constructor does not lock, does not need to, or may fail.  The rest are its methods; a row that names
    none has the usual ones.
    """

    type: Names
    of: str = ""
    shared: bool = False
    argument: int = 1
    defer: tuple[str, ...] = ()
    adopt: tuple[str, ...] = ()
    attempt: tuple[str, ...] = ()
    lock: tuple[str, ...] = ()
    unlock: tuple[str, ...] = ()
    try_lock: tuple[str, ...] = ()
    release: tuple[str, ...] = ()  # gives the lock up without releasing it
    owns: tuple[str, ...] = ()

    @property
    def types(self) -> tuple[str, ...]:
        return listed(self.type)


class ThreadRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Functions, or constructors of ``type``, that start a thread or hand work to one.

    ``entry_argument`` is the function that then runs (from 0, ``this`` is 0 of a method); None: a callable object
    whose place varies, or an entry that the call does not show.  ``runs`` is the method of the object there that runs
    instead.  ``data_argument`` is handed to the entry as its argument ``data_parameter``: None is the one behind the
    entry, -1 none.  ``data_count_argument`` says how many are handed on from there, each as the next argument; None:
    one.  ``many``: several threads may run it at once.  ``waits``: the call returns when they have ended.
    """

    function: Names = ()
    entry_argument: int | None = None
    data_argument: int | None = None
    data_parameter: int = 0
    data_count_argument: int | None = None
    many: bool = False
    waits: bool = False
    type: Names = ()
    runs: str = ""

    @property
    def functions(self) -> tuple[str, ...]:
        return listed(self.function)

    @property
    def types(self) -> tuple[str, ...]:
        return listed(self.type)


class BarrierRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Functions at which threads wait for each other: what comes before an arrival is over when a wait returns.

    ``argument`` is the object (``this`` is 0), -1 where all threads that run the same region are meant.  ``arrives``
    and ``waits`` are both true of a barrier; of a latch one function may do the one and another one the other.
    ``word``: the object is a word, and who changes it by an instruction arrives.  ``begins_with``: a function and its
    argument that says how many pass before anybody has arrived, as of a semaphore; the object is its argument 0.
    ``counts``: so many pass before anybody has arrived as the object's memory says that is there from the beginning.
    ``made_by``: functions that make an object, their argument 0, as no other does.  ``result``: sets what a function
    of ``result_wait`` waits for.
    """

    function: Names
    argument: int = 0
    arrives: bool = True
    waits: bool = True
    word: bool = False
    begins_with: tuple[str, int] | None = None
    counts: bool = False
    made_by: tuple[str, ...] = ()
    result: bool = False

    @property
    def functions(self) -> tuple[str, ...]:
        return listed(self.function)

    @property
    def makers(self) -> tuple[str, ...]:
        return (*self.made_by, *(() if self.begins_with is None else self.begins_with[:1]))


class CallbackRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Functions that hand a library a function to call: which argument, and on which thread it is called.

    ``loop`` are the functions that call it, where ``thread`` is LOOP.  ``timer``: by the clock, so seldom; a call whose
    argument ``descriptor_argument`` is -1 is for a timer as well.
    """

    function: Names
    entry_argument: int
    thread: CallbackThread = CallbackThread.LOOP
    loop: tuple[str, ...] = ()
    timer: bool = False
    descriptor_argument: int | None = None
    data_argument: int | None = None
    data_parameter: int = 0

    @property
    def functions(self) -> tuple[str, ...]:
        return listed(self.function)


def data_of(row: ThreadRow | CallbackRow) -> int:
    """The argument that is handed to the entry; -1 none."""
    if row.data_argument is not None:
        return row.data_argument
    return -1 if row.entry_argument is None else row.entry_argument + 1


class PoolRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Functions that a pool runs on its threads, in programs that have one of the functions that make such a pool.

    Others have the same functions and run them on one thread.
    """

    function: Names
    made_by: Names


class Vocabulary(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The rows of one library, or of one project.

    ``language`` is "Rust" where names of functions are paths of that language, "Go", or "" for C and C++.
    ``inline_namespaces`` are namespaces, as globs by the outermost one, that names in a program have and rows leave
    out.  ``thread_entry`` are functions that run on a thread of their own whoever starts them, ``thread_number`` those
    that return the number of the running thread or of its processor, ``thread_handle`` types of objects that stand for
    a thread, ``result_wait`` those that return when a task has set its result, ``event_loop`` those that run events
    until they are told to end, ``runtime_function`` what a C runtime adds to every program, ``library_data`` globs over
    readable names of variables that a program has from the library and cannot move, ``runtime_code`` globs over
    functions of a run-time that each program contains and that are not looked into, like those of another file.
    """

    library: str = ""
    language: str = ""
    inline_namespaces: dict[str, tuple[str, ...]] = {}
    lock: tuple[LockRow, ...] = ()
    guard: tuple[GuardRow, ...] = ()
    thread: tuple[ThreadRow, ...] = ()
    callback: tuple[CallbackRow, ...] = ()
    barrier: tuple[BarrierRow, ...] = ()
    join: tuple[str, ...] = ()
    result_wait: tuple[str, ...] = ()
    event_loop: tuple[str, ...] = ()
    thread_number: tuple[str, ...] = ()
    thread_entry: tuple[str, ...] = ()
    pool_task: tuple[PoolRow, ...] = ()
    thread_handle: tuple[str, ...] = ()
    runtime_function: tuple[str, ...] = ()
    library_data: tuple[str, ...] = ()
    runtime_code: tuple[str, ...] = ()


def listed(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names


def mistakes(rows: Vocabulary) -> Iterator[tuple[str, str]]:
    """What a reader's types cannot say: (key with its row's number, what is wrong there)."""
    for number, lock in enumerate(rows.lock):
        at = f"lock[{number}]"
        if not lock.types or not all(lock.types):
            yield f"{at}.type", "name the type"
        for key, ranges in (("hot", lock.hot), ("read", lock.read), *_abi_ranges(lock)):
            for start, end in ranges:
                if not 0 <= start < end:
                    yield f"{at}.{key}", f"[{start}, {end}] is not a range of bytes"
        if lock.success not in (0, 1):
            yield f"{at}.success", "an attempt returns 0 when the lock is held, or 1 for anything else"
        for call in (
            *lock.lock,
            *lock.lock_shared,
            *lock.try_lock,
            *lock.try_lock_shared,
            *lock.unlock,
            *lock.unlock_shared,
            *lock.use,
        ):
            if isinstance(call, LockCall):
                yield from _bad_argument(at, call.argument)
                if call.success not in (None, 0, 1):
                    yield f"{at}.try_lock", "an attempt returns 0 when the lock is held, or 1 for anything else"
        for wait in lock.wait:
            if isinstance(wait, WaitCall):
                yield from _bad_argument(f"{at}.wait", wait.argument)
                yield from _bad_argument(f"{at}.wait", wait.releases)
    for number, guard in enumerate(rows.guard):
        yield from _bad_argument(f"guard[{number}].argument", guard.argument)
    for number, thread in enumerate(rows.thread):
        yield from _bad_argument(f"thread[{number}].entry_argument", thread.entry_argument)
        if not thread.functions and not thread.types:
            yield f"thread[{number}]", "name the function, or the type whose constructor starts a thread"
    for number, callback in enumerate(rows.callback):
        yield from _bad_argument(f"callback[{number}].entry_argument", callback.entry_argument)
        yield from _bad_argument(f"callback[{number}].descriptor_argument", callback.descriptor_argument)
        if (callback.thread is CallbackThread.LOOP) != bool(callback.loop):
            yield f"callback[{number}].loop", 'name the functions that call it, with thread = "loop"'


def _abi_ranges(lock: LockRow) -> Iterator[tuple[str, ByteRanges]]:
    for key, abi in lock.abi.items():
        yield f"abi.{key}.hot", abi.hot
        yield f"abi.{key}.read", abi.read


def _bad_argument(at: str, number: int | None) -> Iterator[tuple[str, str]]:
    if number is not None and not 0 <= number <= MAX_ARGUMENT:
        yield at, f"arguments count from 0, and up to {MAX_ARGUMENT}"
