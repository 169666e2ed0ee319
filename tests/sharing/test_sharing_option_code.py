"""A loop that asks for the next option of a command line ends with it; other loops of the program do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.image import read_images
from linemate.options import CheckOptions, FactsRequest
from linemate.source import images, read_program
from sharing.basics.numbers import SELDOM
from sharing.knowledge import default_knowledge
from sharing.model import AccessKind, Image
from sharing.static.rarecode import with_rarity
from tests.sharing.conftest import Compile

# once_*: for each option; often_*: the near misses.
OPTIONS = """
#include <getopt.h>
#include <stdio.h>
#ifdef INLINED
#define PARSE static inline __attribute__((always_inline))
#else
#define PARSE __attribute__((noinline))
#endif
volatile long once_given, once_verbose, once_named, often_read, often_commands, often_within;
static const struct option names[] = {{"name", 1, 0, 'n'}, {0, 0, 0, 0}};
__attribute__((noinline)) void once_set(int n) { once_given += n; }
__attribute__((noinline)) void often_run(int n, char **v) {
  while (getchar() != 'q') {
    often_commands++;
    optind = 1;
    while (getopt(n, v, "x") > 0) often_within++;
  }
}
PARSE int parse(int n, char **v) {
  int c;
  while ((c = getopt_long(n, v, "v", names, 0)) != -1) {
    switch (c) {
    case 'v': once_verbose++; break;
    case 'n': once_named++; once_set(n); break;
    default: return 1;
    }
  }
  return 0;
}
int main(int n, char **v) {
  if (parse(n, v)) return 1;
  while (getchar() != 'q') often_read++;
  often_run(n, v);
  return 0;
}
"""


def seldom(image: Image) -> dict[str, bool]:
    """Whether what changes each variable of these names, and the calls of functions, are seldom."""
    names = {int(row["address"]): image.names[row["name"]] for row in (*image.variables, *image.functions)}
    changed = image.sites[(image.sites["kind"] == AccessKind.STORE) | (image.sites["kind"] == AccessKind.RMW)]
    found = {names.get(int(site["target"]), ""): int(site["rarity"]) >= SELDOM for site in changed}
    found |= {names.get(int(call["callee"]), ""): int(call["rarity"]) >= SELDOM for call in image.calls}
    return {name: rare for name, rare in found.items() if name.startswith(("once_", "often_"))}


EXPECTED = {
    **dict.fromkeys(("once_verbose", "once_named", "once_set"), True),
    **dict.fromkeys(("once_given", "often_read", "often_commands", "often_within", "often_run"), False),
}  # what once_set does is as seldom as its calls


@pytest.mark.parametrize("define", ["-UINLINED", "-DINLINED"])  # the next loop follows at once in one function
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("tool", ["gcc", "clang-19", "aarch64-linux-gnu-gcc"])
def test_what_a_loop_over_options_does_is_seldom(compiled: Compile, tool: str, level: str, define: str) -> None:
    (image,) = read_images(str(compiled(tool, "c", OPTIONS, level, define)), types=False)
    assert seldom(with_rarity(image)) == EXPECTED


def test_source_says_the_same(tmp_path: Path) -> None:
    source = tmp_path / "options.c"
    source.write_text(OPTIONS)
    options = CheckOptions(facts=FactsRequest(sources=(str(source),)), assume_threads=True)
    ((_, image),) = images(read_program(options), options, default_knowledge())
    assert seldom(with_rarity(image)) == EXPECTED
