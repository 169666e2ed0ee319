"""Virtual functions at one distance are told apart where the family of the object's class is known."""

from __future__ import annotations

import functools

import pytest

from elfscan.image import read_images
from linemate import api
from sharing.model.finding import Severity
from sharing.model.image import SlotKind
from sharing.static.pointercalls import KeptFunctions
from sharing.static.slotnumbers import OF_FAMILIES, place_of
from tests.sharing.conftest import Compile

# Each thread calls objects of one family alone.  ``circles`` and ``squares`` are the painting thread's: if the packing
# thread's calls were of codecs or of shapes, both threads would change them.
PROGRAM = """
#include <atomic>
#include <pthread.h>
#include <stdio.h>
struct Shape { virtual ~Shape() {} virtual void draw(int) = 0; };
struct Codec { virtual ~Codec() {} virtual void encode(int) = 0; METHOD };
alignas(64) std::atomic<long> circles; std::atomic<long> squares;
alignas(64) std::atomic<long> zips; alignas(64) std::atomic<long> lzs;
alignas(64) volatile int stop;
struct Circle : Shape { int r; void draw(int x) override { circles += x; } };
struct Square : Shape { int r; void draw(int x) override { squares += x + r; } };
struct Zip : Codec { int k; void encode(int x) override { zips += x ^ k; } };
struct Lz : Codec { int k; void encode(int x) override { lzs += x * k; } };
MORE
alignas(64) Shape *shapes[8];
alignas(64) Codec *codecs[8];
PACK
void *painter(void *) { for (int n = 0; !stop; n++) shapes[n & 7]->draw(n); return 0; }
void *packer(void *) { for (int n = 0; !stop; n++) CALL; return 0; }
int main(int c, char **) {
  for (int i = 0; i < 8; i++) {
    if (i & c) shapes[i] = new Circle; else shapes[i] = new Square;
    if (i & c) codecs[i] = new Zip; else codecs[i] = new Lz;
  }
  pthread_t a, b;
  pthread_create(&a, 0, painter, 0);
  pthread_create(&b, 0, packer, 0);
  getchar();
  stop = 1;
  pthread_join(a, 0);
  pthread_join(b, 0);
  printf("%ld", (long)(circles + squares + zips + lzs));
}
"""
PACK = "__attribute__((noinline)) void pack(Codec *c, int n) { for (int i = 0; i < 8; i++) c->encode(n + i); }"
FUNCTION = {"METHOD": "", "MORE": "", "PACK": PACK, "CALL": "pack(codecs[n & 7], n)"}
INLINED = FUNCTION | {"PACK": "", "CALL": "codecs[n & 7]->encode(n)"}
BOTH = """struct Both : Shape, Codec { void draw(int) override; void encode(int) override; };
void Both::draw(int) {}
void Both::encode(int) {}
Both *both() { return new Both; }"""
UNTYPED = PACK.replace("Codec *c,", "void *p,").replace("{", "{ Codec *c = (Codec *)p;", 1)
COMPILERS = pytest.mark.parametrize("tool", ["g++", "clang++-19"])


def program(parts: dict[str, str]) -> str:
    return functools.reduce(lambda text, part: text.replace(*part), parts.items(), PROGRAM)


def said(compiled: Compile, tool: str, parts: dict[str, str], *flags: str) -> str:
    """The severity of the finding that has both counters of the painting thread."""
    path = compiled(tool, "cc", program(parts), "-O2", "-std=c++17", *flags)
    report = api.audit(str(path), min_severity=Severity.NOTE)
    both = {"circles", "squares"}
    return next((f.severity for f in report.findings if both <= {p.name for p in f.participants}), "none")


@COMPILERS
def test_what_a_function_is_handed_is_of_the_class_that_its_name_says(compiled: Compile, tool: str) -> None:
    assert said(compiled, tool, FUNCTION) in ("note", "none")


@COMPILERS
@pytest.mark.parametrize("virtual", ["", "virtual "])
def test_so_is_the_object_of_a_method(compiled: Compile, tool: str, virtual: str) -> None:
    method = f"__attribute__((noinline)) {virtual}void all(int n) {{ for (int i = 0; i < 8; i++) encode(n + i); }}"
    assert said(compiled, tool, FUNCTION | {"METHOD": method, "PACK": "", "CALL": "codecs[n & 7]->all(n)"}) in (
        "note",
        "none",
    )


@COMPILERS
def test_debug_information_tells_of_pointers_anywhere(compiled: Compile, tool: str) -> None:
    assert said(compiled, tool, INLINED, "-g") in ("note", "none")


@COMPILERS
@pytest.mark.parametrize(
    "parts",
    [
        pytest.param(INLINED, id="nothing says what the pointer is"),
        pytest.param(FUNCTION | {"MORE": BOTH}, id="a class derives from both"),
        pytest.param(FUNCTION | {"PACK": UNTYPED}, id="the name says nothing of the class"),
        pytest.param(FUNCTION | {"PACK": f"static {PACK}"}, id="arguments of what others do not see may be changed"),
    ],
)
def test_otherwise_any_of_them_may_be_called(compiled: Compile, tool: str, parts: dict[str, str]) -> None:
    assert said(compiled, tool, parts) not in ("note", "none")


@COMPILERS
@pytest.mark.parametrize(("virtual", "known"), [("virtual ", True), ("", False)])
def test_without_names_the_tables_tell_of_methods_that_are_virtual(
    compiled: Compile, tool: str, virtual: str, known: bool
) -> None:
    method = f"__attribute__((noinline)) {virtual}void all(int n) {{ for (int i = 0; i < 8; i++) encode(n + i); }}"
    parts = FUNCTION | {"METHOD": method, "PACK": "", "CALL": "codecs[n & 7]->all(n)"}
    (image,) = read_images(str(compiled(tool, "cc", program(parts), "-O2", "-std=c++17", "-s")))
    calls, slots = KeptFunctions(image).calls()
    assert (place_of(slots)[calls["slot"] == SlotKind.RECORD] >= OF_FAMILIES).any() == known


@COMPILERS
def test_functions_in_front_of_what_a_pointer_leads_to_are_of_no_family(compiled: Compile, tool: str) -> None:
    """Their places are as large as unsigned numbers can be, and were taken for places of a family."""
    more = """struct Link { Link *next; };
struct Timer { void (*call)(int); Link link; };
Link *first;
void tick(int n) { circles += n; }
__attribute__((noinline)) Timer *of(Link *l) { return (Timer *)((char *)l - 8); }
void set(Link *l) { of(l)->call = tick; }
void run(int n) { for (Link *l = first; l; l = l->next) ((Timer *)((char *)l - 8))->call(n); }
struct Worker { Link *at; void step(int n) { ((Timer *)((char *)at - 8))->call(n); } } worker;
void *timers(void *) { for (int n = 0; !stop; n++) { run(n); worker.step(n); set(first); } return 0; }
void more() { pthread_t t; pthread_create(&t, 0, timers, 0); }"""
    path = compiled(tool, "cc", program(FUNCTION | {"MORE": more}), "-O2", "-std=c++17")
    (image,) = read_images(str(path))
    kept = KeptFunctions(image)
    _, slots = kept.calls()
    places = place_of(slots)
    assert (places > 0xFFFFFF00).any()
    assert len(kept.distances(places)) == len(places)
