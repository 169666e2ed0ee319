"""Functions whose result says that they failed, or that time ran out, by their names.

Owns which functions these are, and how each says so.  Only what fails where memory, descriptors or other resources of
the system are used up, or where the program is wrong, and what waits for milliseconds and more: both happen a few times
a second, whatever the program is busy with.  Not what asks a question that is often answered so (a name that is looked
up, ``access``, ``stat``, ``unlink``), nor what says on a descriptor which does not wait that nothing is there yet
(``read``, ``accept``, ``send``, ``connect``), nor an attempt (``trylock``).  ``analyzer/src/function/Failures.cpp`` has
the same for source.
"""

from __future__ import annotations

from enum import IntFlag


class Failure(IntFlag):
    """What of a result means failure; of TIMES_OUT the argument of that number is the time, in milliseconds.

    Of WAITS_UNTIL it may be a clock that says so, which is asked behind the call; of SHORT any number but the third
    argument is a failure.
    """

    NULL = 1
    NEGATIVE = 2
    NONZERO = 4
    THIRD_TIMES_OUT = 16
    FOURTH_TIMES_OUT = 24
    WAITS_UNTIL = 4096
    SHORT = 8192


# ISO C 7.22.3 and 7.21.5, POSIX.1-2017 malloc(), fopen(), opendir(); C++ 17.6.3 for new(std::nothrow).
_NULL = frozenset(
    (
        *("malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "memalign", "valloc", "pvalloc"),
        *("strdup", "strndup", "__strdup", "wcsdup", "g_try_malloc", "g_try_malloc0", "g_try_realloc"),
        *("fopen", "fopen64", "fdopen", "freopen", "tmpfile", "tmpfile64", "fmemopen", "open_memstream", "popen"),
        *("opendir", "fdopendir", "g_cond_wait_until"),
    )
)
_NOTHROW = ("_Znwm", "_Znam")
_NOTHROW_END = "RKSt9nothrow_t"
# POSIX.1-2017: -1, or MAP_FAILED, which is the same number.
_NEGATIVE = frozenset(
    (
        *(
            "open",
            "open64",
            "openat",
            "openat64",
            "creat",
            "creat64",
            "mkstemp",
            "mkstemp64",
            "shm_open",
            "memfd_create",
        ),
        *("socket", "dup", "dup2", "dup3", "fork", "vfork", "mmap", "mmap64", "mremap", "eventfd"),
        *(
            "timerfd_create",
            "epoll_create",
            "epoll_create1",
            "inotify_init",
            "inotify_init1",
            "signalfd",
            "shmget",
            "shmat",
        ),
        *("semget", "fileno", "sysconf", "__open_2", "__open64_2", "__openat_2", "sigtimedwait"),
    )
)
# The same: zero, or -1 or the number of an error.
_NONZERO = frozenset(
    (
        *("pthread_create", "pthread_join", "pthread_detach", "pthread_key_create", "pthread_setspecific"),
        *(
            "pthread_attr_init",
            "pthread_mutex_init",
            "pthread_cond_init",
            "pthread_rwlock_init",
            "pthread_barrier_init",
        ),
        *("pthread_mutex_lock", "pthread_mutex_unlock", "pthread_rwlock_rdlock"),
        *(
            "pthread_rwlock_wrlock",
            "pthread_rwlock_unlock",
            "pthread_spin_lock",
            "pthread_spin_unlock",
            "pthread_cond_wait",
        ),
        *("pthread_cond_signal", "pthread_cond_broadcast", "sem_init", "sem_post", "posix_memalign"),
        *("pipe", "pipe2", "socketpair", "bind", "listen", "setsockopt", "getsockname", "fstat", "fstat64"),
        *("ftruncate", "ftruncate64", "fsync", "fdatasync", "munmap", "mprotect", "clock_gettime", "gettimeofday"),
        *("sigaction", "sigprocmask", "pthread_sigmask", "getrlimit", "getrlimit64", "setrlimit", "setrlimit64"),
        *("pthread_cond_timedwait", "pthread_cond_clockwait", "sem_timedwait", "sem_clockwait", "cnd_timedwait"),
        *("pthread_mutex_timedlock", "pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock", "mtx_timedlock"),
        *("mtx_init", "mtx_lock", "mtx_unlock", "cnd_init", "cnd_wait", "cnd_signal", "cnd_broadcast", "thrd_create"),
        *("uv_cond_timedwait", "apr_thread_cond_timedwait"),
    )
)
# Of these std::condition_variable asks no result: it compares the time then (libstdc++, bits/condition_variable.h).
_WAITS_UNTIL = frozenset(("pthread_cond_timedwait", "pthread_cond_clockwait"))
# POSIX.1-2017 write(), ISO C 7.21.8.2: what is asked whether all was written takes anything else for an error.  Not of
# sockets and other calls that are made to go on with the rest.
_SHORT = frozenset(("write", "pwrite", "pwrite64", "fwrite", "fwrite_unlocked"))
_TIMED = {
    "poll": Failure.THIRD_TIMES_OUT,
    "__poll": Failure.THIRD_TIMES_OUT,
    "__poll_chk": Failure.THIRD_TIMES_OUT,
    "g_poll": Failure.THIRD_TIMES_OUT,
    "epoll_wait": Failure.FOURTH_TIMES_OUT,
    "epoll_pwait": Failure.FOURTH_TIMES_OUT,
}


def failure_of(name: str) -> Failure:
    """How a function of this name, of another file, says that it failed; 0 where it is none of these."""
    if name in _NULL or (name.startswith(_NOTHROW) and name.endswith(_NOTHROW_END)):
        return Failure.NULL
    if name in _NEGATIVE:
        return Failure.NEGATIVE
    if name in _NONZERO:
        return Failure.NONZERO | Failure.WAITS_UNTIL if name in _WAITS_UNTIL else Failure.NONZERO
    if name in _SHORT:
        return Failure.SHORT
    return _TIMED.get(name, Failure(0))
