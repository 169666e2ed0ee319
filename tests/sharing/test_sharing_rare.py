"""What runs once or as good as never is no steady work: once guards, ways that end the program, handlers of its end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elfscan.image import read_images
from sharing.basics.numbers import SELDOM
from sharing.model import AccessKind, FunctionFlag, Image
from sharing.static.rarecode import with_rarity
from tests.sharing.conftest import Compile

COMPILERS = [(tool, level) for tool in ("gcc", "clang-19") for level in ("-O0", "-O2")]

DEAD_ENDS = """
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
long fatal, asked, failed, checked, served, finished, told;
__attribute__((noinline)) static void die(const char *why) { fputs(why, stderr); exit(3); }
__attribute__((noinline)) static void report(const char *why) { fputs(why, stdout); }
__attribute__((noinline)) static void complain(const char *why) { perror(why); }
__attribute__((noinline)) static void other(void) { complain("nine"); }
__attribute__((noinline)) static void serve(int n) { while (n--) { served++; report("."); } exit(0); }
int main(int n, char **v) {
  if (n == 3) { fatal++; abort(); }
  if (n == 4) { failed++; die("four"); }
  if (n == 5) { asked++; report("five"); }
  if (n == 6) { checked++; die("six"); }
  if (n == 8) { told++; complain("eight"); }
  if (n == 9) other();
  if (n == 7) { finished++; serve(n); }
  return 0;
}
"""
JOINED = """
#include <stdio.h>
long told;
__attribute__((noinline)) static void complain(const char *why) { perror(why); }
int main(int n, char **v) {
  if (n == 8) { told++; complain("eight"); }
  if (n == 9) complain("nine");
  return 0;
}
"""
PACKETS = """
#include <stdlib.h>
long logtype, other, sent;
__attribute__((noinline)) int rte_log(long level, long type, const char *text) { return rand() + type + *text; }
__attribute__((noinline)) int rte_lcore(long level, long type, const char *text) { return rand() + type - *text; }
int main(int n, char **v) {
  if (n == 3) return rte_log(4, logtype, v[0]);
  if (n == 9) n += rte_lcore(4, other, v[0]);
  sent++;
  return n;
}
"""
GUARDED = """
#include <cstdlib>
struct Options { long seen; Options(); };
long built, used;
Options::Options() { built++; }
long *option() { static Options only; used++; return &only.seen; }
static int parse() { built--; return rand(); }
int level() { static int chosen = parse(); used--; return chosen; }
int main() { return int(*option()) + level(); }
"""
HANDLERS = """
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
long opened, flushed, caught, both;
static pthread_once_t flag = PTHREAD_ONCE_INIT;
static void open_all(void) { opened++; }
static void flush(void) { flushed++; }
static void count(int n) { caught += n; }
__attribute__((noinline)) static void sync_all(void) { both++; }
int main(int n, char **v) {
  pthread_once(&flag, open_all);
  atexit(flush);
  atexit(sync_all);
  signal(SIGHUP, count);
  for (int i = 0; i < n; i++) sync_all();
  return 0;
}
"""

INSTALLED = """
#include <pthread.h>
#include <signal.h>
#include <string.h>
long caught, waited, answered, both;
static void count(int n) { caught += n; }
static void again(int n) { both += n; }
static void *wait_for(void *arg) { waited++; return arg; }
static long answer(void) { return ++answered; }
long (*handler)(void);
int main(int n, char **v) {
  struct sigaction how;
  pthread_t thread;
  memset(&how, 0, sizeof how);
  how.sa_handler = count;
  sigemptyset(&how.sa_mask);
  sigaction(SIGTERM, &how, 0);
  how.sa_handler = again;
  sigaction(SIGHUP, &how, 0);
  pthread_create(&thread, 0, wait_for, 0);
  handler = answer;
  for (int i = 0; i < n; i++) again(i);
  return 0;
}
"""
LOGGED = """
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <syslog.h>
long written, shown, worked, traced, looked, put, spoken, answered;
int level;
__attribute__((noinline)) static void speak(FILE *to, const char *how, ...) {
  va_list all;
  va_start(all, how);
  spoken++;
  vfprintf(to, how, all);
  va_end(all);
}
__attribute__((noinline)) void text(FILE *to, const char *how, ...) {
  va_list all;
  va_start(all, how);
  shown++;
  vfprintf(to, how, all);
  va_end(all);
}
__attribute__((noinline)) static void write_log(int what, const char *said) { syslog(what, "%s", said); }
__attribute__((noinline)) void note(const char *how, ...) {
  char said[200];
  va_list all;
  va_start(all, how);
  vsnprintf(said, sizeof said, how, all);
  va_end(all);
  written++;
  write_log(LOG_INFO, said);
}
__attribute__((noinline)) void trace(int depth, const char *how, ...) {
  va_list all;
  looked++;
  if (level < depth) return;
  va_start(all, how);
  vfprintf(stderr, how, all);
  va_end(all);
  traced++;
}
int main(int n, char **v) {
  if (n == 3) { put++; note("%d", n); }
  if (n == 4) { worked++; text(stdout, "%d", n); }
  if (n == 5) speak(stderr, "%d", n);
  if (n == 6) { answered++; speak(stdout, "%d", n); }
  trace(2, "%d", n);
  return 0;
}
"""
KEPT = """
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
long kept, missed, held, freed, again;
static int last;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void keep(void) {
  int left = errno;
  pthread_mutex_lock(&guard);
  kept++;
  last = left;
  pthread_mutex_unlock(&guard);
}
__attribute__((noinline)) static void give_back(void *p) { int left = errno; held--; free(p); errno = left; }
__attribute__((noinline)) static int left_by_it(void) { return errno; }
int main(int n, char **v) {
  while (n++ < 1000) {
    if (write(n, v[0], n) < 0) { missed++; keep(); }
    if (write(n, v[1], n) < 0) { again++; if (left_by_it() == EAGAIN) last = 0; }
    if (v[n]) { freed++; give_back(v[n]); }
  }
  return last;
}
"""
TOLD_ONCE = """
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <stdarg.h>
#include <syslog.h>
long streamed, numbered, listed, handed, printed, saved, sampled, raw;
volatile long counted, rounds;
FILE *file;
__attribute__((noinline)) static void stream(const char *what, long x) { fprintf(stderr, "error: %s %ld\\n", what, x); }
__attribute__((noinline)) static void number(const char *what, long x) {
  char text[99];
  snprintf(text, sizeof text, what, x);
  if (write(2, text, strlen(text)) < 0) counted = 1;
}
__attribute__((noinline)) static void list(const char *what, ...) {
  va_list all;
  va_start(all, what);
  vsyslog(LOG_ERR, what, all);
  va_end(all);
}
__attribute__((noinline)) static void inner(long x) { fprintf(stderr, "bad: %ld\\n", x); }
__attribute__((noinline)) static void hand(const char *what, long x) { char t[50]; snprintf(t, 50, what, x); inner(x); }
__attribute__((noinline)) static void print(const char *what, long x) { printf("%s %ld\\n", what, x); }
__attribute__((noinline)) static void save(const char *what, long x) { fprintf(file, "%s %ld\\n", what, x); }
__attribute__((noinline)) static void sample(const char *what, long x) {
  for (long i = 0; i < x; i++) counted += i * x;
  fprintf(stderr, "%s %ld\\n", what, counted);
}
int main(int n, char **v) {
  if (n == 3) { streamed++; stream("three", n); }
  if (n == 4) { numbered++; number("%ld", n); }
  if (n == 5) { listed++; list("%d", n); }
  if (n == 6) { handed++; hand("%ld", n); }
  if (n == 7) { printed++; print("seven", n); }
  if (n == 8) { saved++; save("eight", n); }
  if (n == 9) { sampled++; sample("nine", rounds); }
  if (n == 10) { raw++; if (write(2, "ten", 3) < 0) return 1; }
  return 0;
}
"""
OPTIONS = """
#include <string.h>
long colour, limit, asked;
void set(const char *name, long value) {
  if (!strcasecmp(name, "colour")) colour = value;
  else if (!strcasecmp(name, "limit")) limit = value;
  else if (!strcasecmp(name, "first")) asked++;
  else if (!strcasecmp(name, "second")) asked++;
  else if (!strcasecmp(name, "third")) asked++;
  else if (!strcasecmp(name, "fourth")) asked++;
  else if (!strcasecmp(name, "fifth")) asked++;
  else if (!strcasecmp(name, "sixth")) asked++;
}
int main(int n, char **v) { set(v[0], n); return 0; }
"""
ENVIRONMENT = """
#include <stdlib.h>
#include <stdio.h>
int colour, worked;
int main(void) {
  colour = getenv("COLOUR") != 0;
  while (getchar() != -1) worked = worked * 3 + 1;
  return 0;
}
"""
FEW_OPTIONS = OPTIONS.replace("sixth", "fifth").replace('else if (!strcasecmp(name, "fifth")) asked++;', "")
WITHOUT_COPY = """
#include <stdio.h>
long failed, served, shown;
int get(void);
void serve(void) {
  for (;;) {
    int got = get();
    if (got < 0) { fprintf(stderr, "%d", got); failed++; continue; }
    if (got < 9) { shown++; fputs("few", stdout); continue; }
    served++;
  }
}
"""


RETURNED = """
long seen, one, two, taken;
__attribute__((noinline)) static void count(long n) { seen += n; }
__attribute__((noinline)) long first(long n) { one += n; count(n); return n; }
__attribute__((noinline)) void second(long n) { two += n; count(n); }
__attribute__((noinline)) void third(long n) { two -= n; count(n); }
int main(int n, char **v) {
  if (n == 3) { taken++; second(n); }
  third(n);
  return (int)first(n);
}
"""
HALTED = """
long lost, late, paused, ended, waited;
__attribute__((noinline)) static void note_end(long n) { ended += n; }
__attribute__((noinline)) static void wait_for(long n) { __asm__ volatile("" : : "r"(n)); waited++; }
__attribute__((noreturn, noinline)) static void halt(long n) {
  note_end(n);
  wait_for(n);
  for (;;) __asm__ volatile("" : : "r"(n));
}
__attribute__((noinline)) long first(long n) {
  if (n == 3) { lost++; halt(n); }
  if (n == 5) { paused++; wait_for(n); }
  return n + 1;
}
__attribute__((noinline)) long second(long n) { if (n == 4) { late++; halt(n); } wait_for(n); return n * 3; }
__attribute__((noinline)) long third(long n) { if (n == 6) halt(n); wait_for(n); return n * 5; }
int main(int n, char **v) { return (int)(first(n) + second(n) + third(n)); }
"""


def rarities(program: Path, *names: str, within: tuple[str, ...] = ()) -> dict[str, int]:
    """The least rarity of any access to each variable, of a part that the compiler put apart at least SELDOM."""
    image = judged(program)
    names_of = {image.names[v["name"]]: int(v["address"]) for v in image.variables if v["name"] >= 0}
    functions = [image.names[n] if n >= 0 else "" for n in image.functions["name"].tolist()]
    sites = image.sites[image.sites["kind"] != AccessKind.ADDRESS]
    if within:
        sites = sites[np.isin(sites["function"], [functions.index(name) for name in within])]
    cold = image.functions["flags"][sites["function"]] & FunctionFlag.COLD != 0
    hot_main = np.array([functions[row] == "main" for row in sites["function"].tolist()])  # .text.startup is no verdict
    rarity = np.where(cold & ~hot_main, np.maximum(sites["rarity"], SELDOM), sites["rarity"])
    return {n: int(rarity[sites["target"] == names_of[n]].min(initial=255)) for n in names}


def judged(program: Path) -> Image:
    return with_rarity(next(read_images(str(program), types=False)))


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_a_call_right_before_a_return_comes_back(compiled: Compile, tool: str) -> None:
    """What needs no aligned stack is called as it is, by gcc at -O1: nothing but the return stands behind."""
    program = compiled(tool, "c", RETURNED, "-O1", "-fno-inline")
    found = rarities(program, "seen", "one", "two", "taken")
    assert max(found["seen"], found["one"], found["two"], found["taken"]) < SELDOM


@pytest.mark.parametrize(("tool", "level"), COMPILERS)
def test_what_a_log_of_dpdk_is_handed_is_read_seldom(compiled: Compile, tool: str, level: str) -> None:
    """Packets are not logged: those calls are compiled out."""
    found = rarities(compiled(tool, "c", PACKETS, level), "logtype", "other", "sent")
    assert found["logtype"] >= SELDOM
    assert max(found["other"], found["sent"]) < SELDOM


@pytest.mark.parametrize(("tool", "level"), COMPILERS)
class TestPrograms:
    def test_ways_into_functions_that_do_not_return(self, compiled: Compile, tool: str, level: str) -> None:
        program = compiled(tool, "c", DEAD_ENDS, level)
        found = rarities(program, "fatal", "failed", "checked", "asked", "served", "finished", "told")
        assert min(found["fatal"], found["failed"], found["checked"]) >= SELDOM
        assert found["told"] >= SELDOM  # what it calls returns, and tells of an error
        assert found["asked"] < SELDOM  # what it calls returns, and prints what the program is for
        assert found["served"] < SELDOM  # the program's work, although it ends the program
        assert found["finished"] < SELDOM

    def test_ways_to_calls_behind_which_the_compiler_puts_nothing(
        self, compiled: Compile, tool: str, level: str
    ) -> None:
        if level == "-O0":
            pytest.skip("unoptimised code goes on behind such a call")
        program = compiled(tool, "c", HALTED, level, "-fno-inline")
        found = rarities(program, "lost", "late", "paused", "ended", "waited")
        assert min(found["lost"], found["late"]) >= SELDOM  # nothing names what it does
        assert found["paused"] < SELDOM  # what it calls returns
        assert found["ended"] >= SELDOM  # only what does not return calls what does this
        assert found["waited"] < SELDOM  # others call it too

    def test_statics_behind_a_guard(self, compiled: Compile, tool: str, level: str) -> None:
        program = compiled({"gcc": "g++", "clang-19": "clang++-19"}[tool], "cc", GUARDED, level)
        found = rarities(program, "built", "used", within=("_Z6optionv", "_Z5levelv"))
        assert found["built"] >= SELDOM  # at -O0 it is in functions of their own, which rare calls lead to
        assert found["used"] < SELDOM
        image = judged(program)
        names = [image.names[n] if n >= 0 else "" for n in image.functions["name"].tolist()]
        within = [names.index("_Z6optionv"), names.index("_Z5levelv")]
        rare = np.isin(image.calls["function"], within) & (image.calls["rarity"] >= SELDOM)
        rows = np.searchsorted(image.functions["address"], image.calls["callee"][rare])
        called = {image.names[image.functions["name"][row]] for row in rows if row < len(names)}
        assert called & {"_ZN7OptionsC1Ev", "_ZN7OptionsC2Ev", "_ZL5parsev", "rand"}

    def test_once_exit_and_signal_handlers(self, compiled: Compile, tool: str, level: str) -> None:
        program = compiled(tool, "c", HANDLERS, level)
        found = rarities(program, "opened", "flushed", "caught", "both")
        assert min(found["opened"], found["flushed"], found["caught"]) >= SELDOM
        assert found["both"] < SELDOM  # called in the ordinary way as well
        image = judged(program)
        flags = {image.names[f["name"]]: f["flags"] for f in image.functions if f["name"] >= 0}
        assert flags["flush"] & FunctionFlag.COLD
        assert not flags["sync_all"] & FunctionFlag.COLD

    def test_signal_handlers_in_a_record(self, compiled: Compile, tool: str, level: str) -> None:
        found = rarities(compiled(tool, "c", INSTALLED, level), "caught", "waited", "answered", "both")
        assert found["caught"] >= SELDOM
        assert max(found["waited"], found["answered"]) < SELDOM  # a thread's entry, a function that is stored
        assert found["both"] < SELDOM  # called in the ordinary way as well

    def test_logs_and_ways_to_them(self, compiled: Compile, tool: str, level: str) -> None:
        program = compiled(tool, "c", LOGGED, level)
        found = rarities(program, "written", "put", "shown", "worked", "looked", "traced", "spoken", "answered")
        assert min(found["written"], found["put"], found["traced"]) >= SELDOM
        assert found["spoken"] >= SELDOM  # to one stream or the other, of which one is that for errors
        assert max(found["shown"], found["worked"], found["answered"]) < SELDOM  # what the program is there to say
        assert found["looked"] < SELDOM  # whether it should write is asked each time

    def test_what_keeps_the_number_of_an_error(self, compiled: Compile, tool: str, level: str) -> None:
        found = rarities(compiled(tool, "c", KEPT, level), "kept", "missed", "held", "freed", "again")
        assert min(found["kept"], found["missed"]) >= SELDOM
        assert max(found["held"], found["freed"]) < SELDOM  # what puts the number back may be called on all ways
        assert found["again"] < SELDOM  # what only asks for it may be asked each time

    def test_functions_that_only_tell_of_errors_wherever_they_are_called(
        self, compiled: Compile, tool: str, level: str
    ) -> None:
        told, others = ("streamed", "numbered", "listed", "handed", "raw"), ("printed", "saved", "sampled")
        found = rarities(compiled(tool, "c", TOLD_ONCE, level), *told, *others, within=("main",))
        assert min(found[name] for name in told) >= SELDOM
        assert max(found[name] for name in others) < SELDOM  # what a program is there to write, and work that ends so

    def test_what_readers_of_options_set(self, compiled: Compile, tool: str, level: str) -> None:
        found = rarities(compiled(tool, "c", OPTIONS, level), "colour", "limit", "asked")
        assert min(found["colour"], found["limit"]) >= SELDOM
        assert found["asked"] < SELDOM  # counted, not set: it may be a command that clients send
        few = rarities(compiled(tool, "c", FEW_OPTIONS, level), "colour")
        assert few["colour"] < SELDOM

    def test_what_is_set_by_the_environment(self, compiled: Compile, tool: str, level: str) -> None:
        found = rarities(compiled(tool, "c", ENVIRONMENT, level), "colour", "worked")
        assert found["colour"] >= SELDOM
        assert found["worked"] < SELDOM  # in the loop of a program that begins by asking

    def test_errors_that_a_library_tells(self, compiled: Compile, tool: str, level: str) -> None:
        program = compiled(tool, "c", WITHOUT_COPY, level, "-shared", "-fPIC")
        found = rarities(program, "failed", "shown", "served")
        assert found["failed"] >= SELDOM  # the stream is another file's
        assert max(found["shown"], found["served"]) < SELDOM


@pytest.mark.parametrize(
    ("tool", "level"),
    [
        pytest.param(
            *case,
            marks=pytest.mark.xfail(
                strict=True,
                reason="both calls are one, in a block of its own; which block goes on to which is in no table",
            )
            if case == ("clang-19", "-O2")
            else (),
        )
        for case in COMPILERS
    ],
)
def test_two_messages_that_a_compiler_may_write_with_one_call(compiled: Compile, tool: str, level: str) -> None:
    assert rarities(compiled(tool, "c", JOINED, level), "told")["told"] >= SELDOM


NUMBERED = """
#include <pthread.h>
extern long made, counted;
long made, counted;
volatile int stop;
static __thread int known, number;
__attribute__((noinline)) static int mine(void)
{
    if (!known) { number = __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED); known = 1; }
    return number;
}
static void *work(void *given) { while (!stop) counted += FIRST; return given; }
int main(void) { pthread_t one; pthread_create(&one, 0, work, 0); work(0); return 0; }
"""


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_what_a_thread_does_at_its_first_use_of_its_own_storage(compiled: Compile, tool: str) -> None:
    """One byte of it says that it was done."""
    once = NUMBERED.replace("__thread int known, number", "__thread _Bool known; static __thread int number")
    image = next(read_images(str(compiled(tool, "c", once.replace("FIRST", "mine()"), "-O2")), types=False))
    address = {image.names[v["name"]]: int(v["address"]) for v in image.variables if v["name"] >= 0}
    rarity = {at: image.sites["rarity"][image.sites["target"] == address[at]].min() for at in ("made", "counted")}
    assert rarity["made"] >= SELDOM > rarity["counted"]
