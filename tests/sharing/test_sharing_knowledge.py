"""The vocabulary against this machine: sizes as its C library has them, hot bytes as its locks change them."""

from __future__ import annotations

import platform
import subprocess
from collections import Counter

import pytest

from sharing.knowledge import (
    Knowledge,
    LockAbi,
    LockRow,
    ThreadRow,
    TypeNames,
    abi_keys,
    default_knowledge,
    libraries,
)
from sharing.knowledge.locks import EFFECTS, functions
from sharing.knowledge.names import is_glob
from sharing.model import ImageKind, Vocabulary
from sharing.model.vocabulary import mistakes
from tests.builders.image import AARCH64, X86_64, Builder
from tests.sharing.conftest import Compile

KNOWLEDGE = default_knowledge()
ROWS = {row.name: row for row in KNOWLEDGE.locks}
ROW_NUMBERS = {row.name: number for number, row in enumerate(KNOWLEDGE.locks)}
HERE = {"x86_64": X86_64, "aarch64": AARCH64}.get(platform.machine(), X86_64)
GLIBC = platform.libc_ver()[0] == "glibc" and platform.machine() in ("x86_64", "aarch64")
needs_glibc = pytest.mark.skipif(not GLIBC, reason="the oracle is glibc on x86-64 or aarch64")


def abi(name: str) -> LockAbi:
    found = KNOWLEDGE.lock_abi(list(ROWS).index(name), Builder(arch=HERE).image())
    assert found is not None
    return found


def linkage_name(name: str) -> str:
    """What a compiler makes of a function without parameters; a C function's name is its own."""
    scope, _, own = name.rpartition("::")
    if not scope:
        return name
    parts = [f"{len(part)}{part}" for part in scope.split("::")]
    special = {scope.rpartition("::")[2]: "C2", f"~{scope.rpartition('::')[2]}": "D2"}
    start = "St" + "".join(parts[1:]) if parts[0] == "3std" else "".join(parts)
    return f"_ZN{start}{special.get(own, f'{len(own)}{own}')}Ev"


class TestTables:
    def test_no_lock_has_two_rows(self) -> None:
        assert [n for n, times in Counter(row.name for row in KNOWLEDGE.locks).items() if times > 1] == []

    def test_no_type_has_two_rows(self) -> None:
        times = Counter(t for row in KNOWLEDGE.locks for t in set(row.types))
        assert [name for name, n in times.items() if n > 1] == []

    def test_no_function_does_two_things_to_one_argument(self) -> None:
        times: Counter[tuple[str, int]] = Counter()
        for row in KNOWLEDGE.locks:
            calls = [call for group in (*EFFECTS, "wait") for call in getattr(row, group)]
            times.update({(n, getattr(call, "argument", 0)) for call in calls for n in functions(row, call)})
            # A function in both runs what it is handed in between.
            in_between = [call for call in row.lock if call in row.unlock]
            assert len(set(calls)) == len(calls) - len(in_between), row.name
        assert [call for call, n in times.items() if n > 1] == []

    def test_a_lock_that_runs_what_it_is_handed_is_taken_and_released_by_the_call(self) -> None:
        effects = KNOWLEDGE.lock_calls("_ZN5folly16DistributedMutex12lock_combineEv")
        assert [effect.effect for effect in effects] == ["lock", "unlock"]

    def test_threads_and_joins_are_listed_once(self) -> None:
        rows = libraries()
        starts = [name for table in rows for row in table.thread for name in row.functions]
        joins = [name for table in rows for name in table.join]
        assert [name for name, n in Counter(starts + joins).items() if n > 1] == []

    @pytest.mark.parametrize("table", libraries(), ids=lambda table: table.library)
    def test_a_librarys_rows_have_no_mistakes(self, table: Vocabulary) -> None:
        assert list(mistakes(table)) == []
        assert table.library, "a file says which library it is of"

    @pytest.mark.parametrize("row", KNOWLEDGE.locks, ids=lambda row: row.name)
    def test_ranges_lie_in_order_within_the_lock(self, row: LockRow) -> None:
        assert row.source, "a row says where its figures come from"
        for key, known in row.abi.items():
            for ranges in (known.hot, known.read):
                assert list(ranges) == sorted(ranges), key
                assert all(0 <= start < end <= known.size for start, end in ranges), key
                flat = [x for r in ranges for x in r]
                assert flat == sorted(set(flat)), key
            hot = {x for start, end in known.hot for x in range(start, end)}
            read = {x for start, end in known.read for x in range(start, end)}
            assert hot.isdisjoint(read), f"{key}: bytes that are written are not only read"

    @pytest.mark.parametrize("row", KNOWLEDGE.locks, ids=lambda row: row.name)
    def test_a_lock_is_found_by_each_of_its_types(self, row: LockRow) -> None:
        for name in row.types:
            plain = name.replace("*", "x")
            assert KNOWLEDGE.locks[KNOWLEDGE.lock_types.find(plain)] is row
        for group, effect in EFFECTS.items():
            for call in getattr(row, group):
                for name in functions(row, call):
                    found = KNOWLEDGE.lock_calls(linkage_name(name.replace("*", "x") if is_glob(name) else name))
                    assert (ROW_NUMBERS[row.name], effect) in [(r, e) for _, r, e in found]


class TestTypeNames:
    def test_keywords_do_not_count(self) -> None:
        names = TypeNames([("list_head", 3), ("std::list*", 4)])
        assert [names.find(n) for n in ("list_head", "struct list_head", "class list_head", "list")] == [3, 3, 3, -1]
        assert names.find("std::list<int, std::allocator<int> >") == 4

    def test_exact_names_win_over_patterns_and_first_rows_over_later(self) -> None:
        names = TypeNames([("a*", 0), ("ab", 1), ("ab", 2), ("a*", 3)])
        assert (names.find("ab"), names.find("ac")) == (1, 0)


class TestAbiKeys:
    def test_most_specific_first(self) -> None:
        assert abi_keys(Builder(arch=AARCH64).image()) == ("glibc-aarch64", "glibc-64", "any")

    def test_musl_is_known_by_what_the_image_needs(self) -> None:
        for needed in ("libc.musl-x86_64.so.1", "ld-musl-x86_64.so.1"):
            assert abi_keys(Builder(needed=(needed,)).image())[0] == "musl-x86-64"

    @pytest.mark.parametrize("kind", [ImageKind.KERNEL, ImageKind.MODULE])
    def test_kernels_have_no_c_library(self, kind: ImageKind) -> None:
        assert abi_keys(Builder(kind).image()) == ("kernel-64", "any")

    def test_an_unknown_abi_is_not_guessed(self) -> None:
        row = list(ROWS).index("pthread_barrier_t")
        assert KNOWLEDGE.lock_abi(row, Builder(needed=("libc.musl-x86_64.so.1",)).image()) is None


def test_rows_of_a_project_come_first() -> None:
    own = LockRow("pthread_mutex_t", name="mine", lock=("pthread_mutex_lock",))
    knowledge = Knowledge(Vocabulary(lock=(own,), thread=(ThreadRow("spawn", 1), ThreadRow("pthread_create", 0))))
    assert knowledge.locks[knowledge.lock_types.find("pthread_mutex_t")].name == "mine"
    assert knowledge.lock_calls("pthread_mutex_lock")[0] == (0, 0, "lock")
    assert knowledge.starts_thread("spawn")
    assert knowledge.thread_start("pthread_create") == ThreadRow("pthread_create", 0)
    assert KNOWLEDGE.locks[KNOWLEDGE.lock_types.find("pthread_mutex_t")].name == "pthread_mutex_t"


C_TYPES = (
    *("pthread_mutex_t", "pthread_rwlock_t", "pthread_spinlock_t", "pthread_cond_t", "pthread_once_t"),
    *("sem_t", "pthread_barrier_t", "mtx_t", "cnd_t"),
)
CXX_TYPES = ("std::mutex", "std::shared_mutex", "std::condition_variable")


def figures(program: str) -> dict[str, list[int]]:
    """Lines ``name|number number ...`` of a program's output."""
    text = subprocess.run([program], capture_output=True, text=True, check=True, timeout=30).stdout
    return {name: [int(n) for n in rest.split()] for name, _, rest in (t.partition("|") for t in text.splitlines())}


@needs_glibc
def test_sizes_are_those_of_the_c_library(compiled: Compile) -> None:
    prints = "".join(f'printf("{t}|%zu\\n", sizeof({t}));' for t in C_TYPES)
    headers = "#include <pthread.h>\n#include <semaphore.h>\n#include <stdio.h>\n#include <threads.h>\n"
    program = compiled("gcc", "c", f"{headers}int main(void) {{ {prints} }}")
    assert figures(str(program)) == {name: [abi(name).size] for name in C_TYPES}


@needs_glibc
def test_sizes_are_those_of_the_cxx_library(compiled: Compile) -> None:
    prints = "".join(f'std::printf("{t}|%zu\\n", sizeof({t}));' for t in CXX_TYPES)
    headers = "#include <condition_variable>\n#include <cstdio>\n#include <mutex>\n#include <shared_mutex>\n"
    program = compiled("g++", "cc", f"{headers}int main() {{ {prints} }}", "-std=c++17")
    assert figures(str(program)) == {name: [abi(name).size] for name in CXX_TYPES}


@needs_glibc
def test_bytes_that_operations_only_read_are_the_kind_of_the_lock(compiled: Compile) -> None:
    program = compiled(
        "gcc",
        "c",
        """#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
int main(void) {
  printf("kind|%zu %zu\\n", offsetof(struct __pthread_mutex_s, __kind), sizeof(int));
  printf("hot|%zu\\n", offsetof(struct __pthread_mutex_s, __nusers) + sizeof(unsigned));
  printf("shared|%zu\\n", offsetof(struct __pthread_rwlock_arch_t, __shared));
  printf("flags|%zu\\n", offsetof(struct __pthread_rwlock_arch_t, __flags));
}""",
    )
    found = figures(str(program))
    start, size = found["kind"]
    assert (start, start + size) in abi("pthread_mutex_t").read
    assert found["hot"] == [abi("pthread_mutex_t").hot[-1][1]]
    assert [found["shared"][0], found["flags"][0]] == [r[0] for r in abi("pthread_rwlock_t").read]


# Each object is watched by copies of its bytes between operations, as one thread sees them.
CHANGES = r"""
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

static unsigned char before[128], changed[128];
#define START(x) (memset(changed, 0, 128), memcpy(before, &(x), sizeof(x)))
#define LOOK(x) look(&(x), sizeof(x))
static void look(const void *object, size_t size) {
  const unsigned char *now = object;
  for (size_t i = 0; i < size; i++) changed[i] |= now[i] != before[i];
}
static void say(const char *name) {
  printf("%s|", name);
  for (int i = 0; i < 128; i++) if (changed[i]) printf("%d ", i);
  printf("\n");
}
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, recursive;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static mtx_t mtx;
static cnd_t cnd;
static void *meet(void *unused) { pthread_barrier_wait(&barrier); return unused; }
static int waits;  /* under the mutex of the condition: a signal before the wait would be lost */
static void *waiter(void *unused) {
  pthread_mutex_lock(&mutex);
  waits = 1;
  pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  return unused;
}
static int c11_waiter(void *unused) {
  (void)unused;
  mtx_lock(&mtx);
  waits = 1;
  cnd_wait(&cnd, &mtx);
  mtx_unlock(&mtx);
  return 0;
}
static void until_pthread_waits(void) {
  for (int waiting = 0; !waiting; usleep(1000)) {
    pthread_mutex_lock(&mutex); waiting = waits, waits = 0; pthread_mutex_unlock(&mutex);
  }
}
static void until_c11_waits(void) {
  for (int waiting = 0; !waiting; usleep(1000)) {
    mtx_lock(&mtx); waiting = waits, waits = 0; mtx_unlock(&mtx);
  }
}
int main(void) {
  pthread_t thread;
  thrd_t c11;

  START(mutex);
  for (int i = 0; i < 3; i++) { pthread_mutex_lock(&mutex); LOOK(mutex); pthread_mutex_unlock(&mutex); LOOK(mutex); }
  say("pthread_mutex_t");

  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&recursive, &attributes);
  START(recursive);
  for (int i = 0; i < 3; i++) { pthread_mutex_lock(&recursive); LOOK(recursive); }
  say("pthread_mutex_t recursive");

  START(rwlock);
  for (int i = 0; i < 3; i++) {
    pthread_rwlock_rdlock(&rwlock); LOOK(rwlock); pthread_rwlock_unlock(&rwlock); LOOK(rwlock);
    pthread_rwlock_wrlock(&rwlock); LOOK(rwlock); pthread_rwlock_unlock(&rwlock); LOOK(rwlock);
  }
  say("pthread_rwlock_t");

  pthread_spin_init(&spin, 0);
  START(spin);
  pthread_spin_lock(&spin); LOOK(spin); pthread_spin_unlock(&spin); LOOK(spin);
  say("pthread_spinlock_t");

  sem_init(&semaphore, 0, 1);
  START(semaphore);
  sem_wait(&semaphore); LOOK(semaphore); sem_post(&semaphore); sem_post(&semaphore); LOOK(semaphore);
  say("sem_t");

  pthread_barrier_init(&barrier, 0, 2);
  START(barrier);
  pthread_create(&thread, 0, meet, 0);
  usleep(20000); LOOK(barrier);
  pthread_barrier_wait(&barrier);
  pthread_join(thread, 0); LOOK(barrier);
  say("pthread_barrier_t");

  START(condition);
  for (int i = 0; i < 3; i++) {
    pthread_create(&thread, 0, waiter, 0);
    until_pthread_waits(); LOOK(condition);
    pthread_mutex_lock(&mutex); pthread_cond_signal(&condition); LOOK(condition); pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0); LOOK(condition);
  }
  say("pthread_cond_t");

  mtx_init(&mtx, mtx_plain);
  START(mtx);
  mtx_lock(&mtx); LOOK(mtx); mtx_unlock(&mtx); LOOK(mtx);
  say("mtx_t");

  cnd_init(&cnd);
  START(cnd);
  thrd_create(&c11, c11_waiter, 0);
  until_c11_waits(); LOOK(cnd);
  mtx_lock(&mtx); cnd_broadcast(&cnd); LOOK(cnd); mtx_unlock(&mtx);
  thrd_join(c11, 0); LOOK(cnd);
  say("cnd_t");
  return 0;
}
"""

CXX_CHANGES = r"""
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <shared_mutex>

template <class T, class... F> void watch(const char *name, T &object, F... operations) {
  unsigned char before[sizeof(T)], changed[sizeof(T)] = {};
  std::memcpy(before, reinterpret_cast<unsigned char *>(&object), sizeof(T));
  auto look = [&] {
    for (std::size_t i = 0; i < sizeof(T); i++)
      changed[i] |= reinterpret_cast<unsigned char *>(&object)[i] != before[i];
  };
  ((operations(), look()), ...);
  std::printf("%s|", name);
  for (std::size_t i = 0; i < sizeof(T); i++)
    if (changed[i]) std::printf("%zu ", i);
  std::printf("\n");
}
int main() {
  static std::mutex mutex;
  static std::shared_mutex shared;
  watch("std::mutex", mutex, [] { mutex.lock(); }, [] { mutex.unlock(); });
  watch("std::shared_mutex", shared, [] { shared.lock(); }, [] { shared.unlock(); }, [] { shared.lock_shared(); },
        [] { shared.unlock_shared(); });
}
"""


def changes(compiled: Compile, language: str) -> dict[str, list[int]]:
    if language == "c":
        return figures(str(compiled("gcc", "c", CHANGES, "-D_GNU_SOURCE")))
    return figures(str(compiled("g++", "cc", CXX_CHANGES, "-std=c++17")))


WATCHED = (*(t for t in C_TYPES if t != "pthread_once_t"), "pthread_mutex_t recursive")


@needs_glibc
@pytest.mark.parametrize("name", [*WATCHED, "std::mutex", "std::shared_mutex"])
def test_what_operations_change_is_hot(name: str, compiled: Compile) -> None:
    changed = changes(compiled, "cc" if name.startswith("std::") else "c")[name]
    known = abi(name.split()[0])
    hot = {x for start, end in known.hot for x in range(start, end)}
    assert changed, "the operations change something"
    assert set(changed) <= hot
