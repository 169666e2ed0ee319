"""What is not known of threads is said: a program that can start some, with no start in sight, is no clean result."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from linemate import api
from sharing.knowledge import default_knowledge
from sharing.model import FunctionFlag, ImageKind
from sharing.model.finding import Report
from sharing.static import callgraph
from sharing.static.callgraph import CallGraph
from tests.builders.image import Builder, threads
from tests.cpp import compiler
from tests.sharing.conftest import Compile

NO_THREADS = "nothing in this image starts a thread"

# Two counters side by side, each written in a loop by a function that is only known by its address.
TWO = """
#include <stdlib.h>
static long hits, misses;
static void hit(void) { for (;;) { hits++; __asm__("" ::: "memory"); } }
static void miss(void) { for (;;) { misses++; __asm__("" ::: "memory"); } }
void (*table[2])(void) = {hit, miss};
int main(int n, char **v) { for (int i = 0; i < 3; i++) table[n & 1](); return (int)(hits + misses); }
"""
# The entry comes from another file at run time.
INVISIBLE = """
#include <dlfcn.h>
#include <pthread.h>
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, (void *(*)(void *))dlsym(0, "work"), 0);
  return pthread_join(t, 0);
}
"""


def graph(b: Builder, *, assume: bool = False) -> CallGraph:
    return callgraph.build(b.image(), default_knowledge(), assume_threads=assume)


def note(report: Report) -> str:
    return next(n for n in report.coverage.notes if n.startswith("threads: "))


class TestWhatAnImageNeeds:
    @pytest.mark.parametrize(
        "imported",
        [
            "pthread_create",
            "clone",
            "thrd_create",
            "GOMP_parallel_loop_runtime",
            "__kmpc_fork_teams",
            "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE",
            "_ZN5boost6thread21start_thread_noexceptEv",
            "_ZN7QThread5startENS_8PriorityE",
            "g_thread_pool_new",
            "dispatch_async",
            "JNI_CreateJavaVM",
        ],
    )
    def test_a_call_that_starts_threads_without_a_visible_entry_leaves_them_unknown(self, imported: str) -> None:
        b = Builder()
        b.function("main").call(imported)
        found = graph(b)
        assert found.unknown
        assert imported in found.how
        assert "thread structure unknown" in found.how

    @pytest.mark.parametrize(
        "imported",
        [
            "pthread_mutex_lock",
            "pthread_self",
            "fork",
            "omp_get_num_procs",
            "_ZN7QThread13currentThreadEv",
            "_ZN5boost6system15system_categoryEv",
            "g_thread_self",
        ],
    )
    def test_a_call_that_starts_none_does_not(self, imported: str) -> None:
        b = Builder()
        b.function("main").call(imported)
        found = graph(b)
        assert not found.unknown
        assert found.how == NO_THREADS

    @pytest.mark.parametrize("library", ["libpthread.so.0", "libgomp.so.1", "libtbb.so.12", "libjvm.so"])
    def test_so_does_a_library_of_threads(self, library: str) -> None:
        b = Builder(needed=("libc.so.6", library))
        b.function("main").call("puts")
        assert library in graph(b).unknown

    @pytest.mark.parametrize("library", ["libm.so.6", "libpthread_stubs.so.0", "libc.so.6"])
    def test_another_library_does_not(self, library: str) -> None:
        b = Builder(needed=(library,))
        b.function("main").call("puts")
        assert not graph(b).unknown

    def test_a_seen_entry_decides(self) -> None:
        b = Builder(needed=("libpthread.so.0", "libgomp.so.1"))
        threads(b, "worker")
        b.function("worker")
        assert not graph(b).unknown

    def test_a_library_is_entered_by_any_thread_and_never_unknown(self) -> None:
        b = Builder(ImageKind.SHARED, needed=("libpthread.so.0",))
        b.function("work", FunctionFlag.EXPORTED)
        assert not graph(b).unknown

    def test_assuming_threads_makes_functions_that_may_be_entered_run_on_several(self) -> None:
        b = Builder()
        b.function("main").call("_ZN7QThread5startENS_8PriorityE").call("helper")
        b.function("callback", FunctionFlag.ADDRESS_TAKEN)
        b.function("plugged", FunctionFlag.EXPORTED)
        b.function("helper")
        image = b.image()
        found = callgraph.build(image, default_knowledge(), assume_threads=True)
        assert found.threaded
        assert not found.unknown
        mask = dict(zip(image.names, found.mask.tolist(), strict=False))
        assert found.concurrent(mask["callback"], mask["plugged"])
        assert not found.concurrent(mask["helper"], mask["helper"])


class TestPrograms:
    @pytest.mark.parametrize("tool", ["gcc", "clang-19"])
    @pytest.mark.parametrize("level", ["-O0", "-O2"])
    def test_a_program_without_threads_is_clean(self, compiled: Compile, tool: str, level: str) -> None:
        report = api.audit(compiled(tool, "c", TWO, level), config=False)
        assert not report.incomplete
        assert note(report) == f"threads: {NO_THREADS}"
        assert report.findings == ()

    @pytest.mark.parametrize("stripped", [(), ("-s",)], ids=["symbols", "stripped"])
    def test_unless_it_is_assumed_to_have_some(self, compiled: Compile, stripped: tuple[str, ...]) -> None:
        program = compiled("gcc", "c", TWO, "-O2", *stripped)
        report = api.audit(program, assume_threads=True, config=False)
        assert not report.incomplete
        assert "assumed" in note(report)
        assert report.coverage.counts["lines_profiled"] >= 1

    @pytest.mark.parametrize("tool", ["gcc", "clang-19"])
    @pytest.mark.parametrize("flags", [("-O0",), ("-O2",), ("-O2", "-s")], ids=" ".join)
    def test_an_entry_that_another_file_has_is_not_known(
        self, compiled: Compile, tool: str, flags: tuple[str, ...]
    ) -> None:
        report = api.audit(compiled(tool, "c", INVISIBLE, *flags), config=False)
        assert report.incomplete
        assert "pthread_create is called, its entry is not visible" in note(report)

    def test_go_is_known_by_its_sections(self, compiled: Compile) -> None:
        mark = '__attribute__((section("{}"), used)) static const char info[64] = "x";\n'
        go = api.audit(compiled("gcc", "c", mark.format(".go.buildinfo") + TWO, "-O2", "-s"), config=False)
        assert go.incomplete
        assert "Go's run-time" in note(go)
        other = api.audit(compiled("gcc", "c", mark.format(".gopher.info") + TWO, "-O2", "-s"), config=False)
        assert not other.incomplete


class TestStatic:
    """A statically linked program imports nothing: its functions' names or its system calls decide."""

    @pytest.mark.parametrize("tool", ["gcc", "aarch64-linux-gnu-gcc"])
    @pytest.mark.parametrize("stripped", [(), ("-s",)], ids=["symbols", "stripped"])
    def test_threads_inside_are_found(self, compiled: Compile, tool: str, stripped: tuple[str, ...]) -> None:
        text = INVISIBLE.replace('dlsym(0, "work")', "*(void *volatile *)(8l << 20)")
        report = api.audit(compiled(tool, "c", text, "-O2", "-static", *stripped), config=False)
        seen = note(report)
        assert report.incomplete == ("unknown" in seen)
        assert "unknown" in seen or "start_thread" in seen  # with symbols: the C library's own call of clone
        if stripped:
            assert "asks the kernel for threads" in seen

    @pytest.mark.parametrize("tool", ["gcc", "aarch64-linux-gnu-gcc"])
    @pytest.mark.parametrize("stripped", [(), ("-s",)], ids=["symbols", "stripped"])
    def test_fork_is_no_thread(self, compiled: Compile, tool: str, stripped: tuple[str, ...]) -> None:
        text = "#include <unistd.h>\nlong hits;\nint main(void) { hits++; return fork() == 0; }\n"
        report = api.audit(compiled(tool, "c", text, "-O2", "-static", *stripped), config=False)
        assert not report.incomplete
        assert note(report) == f"threads: {NO_THREADS}"


def test_a_unit_that_uses_a_foreign_run_time_is_judged_as_unknown(tmp_path: Path) -> None:
    compiler("clang-19")
    call = "extern void {}(void); long hits; int main(void) {{ {}(); return (int)hits++; }}\n"
    for name, unknown in (("__kmpc_fork_teams", True), ("__kmpc_global_thread_num", False)):
        source = tmp_path / f"{name}.c"
        source.write_text(call.format(name, name))
        report = api.check([source], flags=["-O1"], cache=False, config=False)
        assert report.incomplete == unknown


def test_the_exit_code_says_incomplete(compiled: Compile, repository: Path) -> None:
    program = compiled("gcc", "c", INVISIBLE, "-O2")
    command = [sys.executable, "-m", "linemate", "audit", str(program), "--quiet"]
    run = subprocess.run(command, cwd=repository, capture_output=True, text=True, timeout=60)
    assert run.returncode == 3, run.stderr
    run = subprocess.run([*command, "--assume-threads"], cwd=repository, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
