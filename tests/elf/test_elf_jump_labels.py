"""Branches of a kernel that static keys switch: the way that a kernel does not take as it starts is the rare one."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.code.jumplabels import OTHERS
from elfscan.image import read_images
from sharing.basics.numbers import SELDOM
from sharing.model import AccessKind, Image, ImageKind
from tests.elf.conftest import Build

# The macros of a kernel: an instruction that does nothing, or a jump, and an entry of three distances for it.
BRANCHES = r"""
struct static_key { int enabled; long entries; };
#define NOP ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
#define JUMP ".byte 0xe9\n .long %l[there] - . - 4\n"
#define SWITCHED(instruction, key, likely)                                       \
  ({ __label__ there; int way = 0;                                               \
     asm goto("1: " instruction                                                  \
              ".pushsection __jump_table, \"aw\"\n .balign 8\n"                  \
              ".long 1b - ., %l[there] - .\n .quad %c0 + " #likely " - .\n"      \
              ".popsection" : : "i"(&key) : "memory" : there);                   \
     if (0) { there: way = 1; }                                                  \
     way; })
#define unlikely_way(key) SWITCHED(NOP, key, 0)
#define likely_way(key) (!SWITCHED(NOP, key, 1))
#define unlikely_way_of_on(key) SWITCHED(JUMP, key, 0)
#define likely_way_of_off(key) (!SWITCHED(JUMP, key, 1))

static struct static_key off, on = {1}, __tracepoint_work, __tracepoint_on = {1};
int traced, unlikely_off, likely_on, unlikely_on, likely_off, patched, shared, always, in_loop;

void work(int n) {
  always++;
  if (unlikely_way(__tracepoint_work)) traced++;
  if (unlikely_way(off)) unlikely_off++;
  if (likely_way(on)) likely_on++;
  if (unlikely_way_of_on(on)) unlikely_on++;
  if (likely_way_of_off(off)) likely_off++;
  if (unlikely_way(__tracepoint_on)) patched++;
}
void meet(int n) {
  if (unlikely_way(__tracepoint_work)) goto both;
  if (n) {
  both:
    shared++;
  }
}
void loop(int n) {
  for (int i = 0; i < n; i++)
    if (unlikely_way(__tracepoint_work)) in_loop++;
}
"""
HALF = 4  # steps of rarity
MODULE = 'static const char license[] __attribute__((section(".modinfo"), used)) = "license=GPL";\n'
KERNEL = """
asm(".pushsection .init.text, \\"ax\\"\\n nop\\n .popsection");
static const int table __attribute__((section("__ex_table"), used)) = 0;
void _start(void) { work(1); }
"""
COMPILERS = [
    ("gcc", "-O2"),
    ("clang-19", "-O2"),
]


def scanned(path: Path) -> Image:
    (image,) = read_images(str(path), types=False)
    return image


def rarity(image: Image, name: str) -> int:
    """Of the rarest access to a variable."""
    row = image.names.index(name)
    address = image.variables["address"][image.variables["name"] == row][0]
    return int(image.sites["rarity"][image.sites["target"] == address].max())


def check_ways(image: Image) -> None:
    assert rarity(image, "always") <= HALF
    for name in ("traced", "in_loop"):
        assert rarity(image, name) >= SELDOM, name  # until somebody asks for it
    for name in ("unlikely_off", "likely_off"):
        assert OTHERS <= rarity(image, name) < SELDOM, name  # the kernel may switch it on where it is in use
    for name in ("likely_on", "unlikely_on"):
        assert rarity(image, name) <= OTHERS, name  # what the kernel does
    assert rarity(image, "patched") <= OTHERS  # as it starts the kernel puts a jump there
    assert rarity(image, "shared") <= HALF  # a plain branch leads there too: one run of two


@pytest.mark.parametrize("command", COMPILERS, ids=lambda command: command[0])
def test_ways_of_a_module_that_no_key_opens_are_rare(build: Build, native: None, command: tuple[str, ...]) -> None:
    image = scanned(build(BRANCHES + MODULE, *command, "-fno-pie", "-c", name="module.ko"))
    assert image.kind is ImageKind.MODULE
    check_ways(image)


FOLLOWED = r"""
struct area { long list[10]; long free; };
struct zone { long marks[4]; struct area area[11]; };
void bulk(struct zone *zone, unsigned order, int n) {
  for (int i = 0; i < n; i++)
    for (unsigned at = order; at < 11; at++) {
      if (unlikely_way(__tracepoint_work)) { traced++; zone->marks[1]++; }
      zone->area[at].free--;
    }
}
"""


@pytest.mark.parametrize("command", COMPILERS, ids=lambda command: command[0])
def test_behind_the_way_that_a_key_opens_pointers_are_followed_still(
    build: Build, native: None, command: tuple[str, ...]
) -> None:
    """Whatever the way does: it began with the registers of the branch."""
    image = scanned(build(BRANCHES + FOLLOWED + MODULE, *command, "-fno-pie", "-c", name="module.ko"))
    row = image.names.index("bulk")
    function = image.functions["name"].tolist().index(row)
    params = image.params[(image.params["function"] == function) & (image.params["arg"] == 0)]
    seen = {(int(one["offset"]), int(one["stride"])) for one in params if one["kind"] != AccessKind.LOAD}
    assert {(32 + 80, 88), (8, 0)} <= seen  # of the areas, and on the way itself


@pytest.mark.parametrize("symbols", [True, False], ids=["by symbols", "by the section"])
def test_the_table_of_a_linked_kernel_is_found(build: Build, native: None, symbols: bool) -> None:
    # A linker makes the symbols of a section whose name is that of a variable in C.
    text = BRANCHES + KERNEL
    if symbols:
        text = text.replace("__jump_table", "jump_entries")
        ends = ["-Wl,--defsym=__start___jump_table=__start_jump_entries"]
        ends += ["-Wl,--defsym=__stop___jump_table=__stop_jump_entries"]
        text += "extern char __start_jump_entries[], __stop_jump_entries[];\n"
        text += "char *volatile ends[] = {__start_jump_entries, __stop_jump_entries};\n"
    else:
        ends = []
    image = scanned(build(text, "gcc", "-O2", "-no-pie", "-fno-pie", "-nostdlib", "-static", *ends))
    assert image.kind is ImageKind.KERNEL
    check_ways(image)


def test_a_program_has_no_static_keys(build: Build, native: None) -> None:
    image = scanned(build(BRANCHES + "int main(void) { work(1); }", "gcc", "-O2", "-no-pie", "-fno-pie"))
    assert rarity(image, "traced") < SELDOM


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (".long 1, 2, 3", "12 bytes"),
        (".quad 0x7fffffff7fffffff, -1", "lead to no code"),
        (".quad 0, 0, 0, 0", "lead to no code"),
        (".skip 1 << 20, 0xff", "lead to no code"),
    ],
)
def test_a_broken_table_is_told_and_changes_nothing(build: Build, native: None, entries: str, said: str) -> None:
    broken = f'asm(".pushsection __jump_table, \\"aw\\"\\n .balign 8\\n {entries}\\n.popsection");\n'
    plain = "int always;\nvoid work(void) { always++; }\n"
    image = scanned(build(broken + plain + MODULE, "gcc", "-O2", "-c", name="module.ko"))
    (note,) = [note for note in image.notes if "static keys" in note]
    assert said in note
    assert rarity(image, "always") == 0
    assert not image.incomplete


def test_an_entry_for_other_code_than_a_key_switches_is_left_alone(build: Build, native: None) -> None:
    source = r"""
int counted;
long __tracepoint_work[2];
void work(int n) {
  asm goto("1: incl counted\n.pushsection __jump_table, \"aw\"\n .balign 8\n"
           ".long 1b - ., %l[there] - .\n .quad __tracepoint_work - .\n .popsection" : : : "memory" : there);
  counted++;
there:
  counted++;
}
"""
    image = scanned(build(source + MODULE, "gcc", "-O2", "-fno-pie", "-c", name="module.ko"))
    assert rarity(image, "counted") < SELDOM
