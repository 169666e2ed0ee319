"""Accesses at an index with a constant part are to the array, not to what lies where the constant leads."""

from __future__ import annotations

import numpy as np
import pytest

from elfscan.image import read_images
from sharing.model.image import AccessKind
from sharing.static.foldedindexes import with_folded_indexes
from tests.sharing.conftest import Compile

PROGRAM = """
#include <pthread.h>
#define APART __attribute__((noinline, used))
struct all {
  volatile long in, out, lost, late, seen, kept, gone, more;
  char text[128];
  long after;
  unsigned sums[64];
} all;
APART void folded(unsigned long n) { all.text[n - 34] = 1; }        /* expected: text */
APART void at_a_member(unsigned long n) { all.text[n - 40] = 1; }   /* expected: text */
APART void element(unsigned long n) { all.sums[n + 1] = 1; }        /* expected: its place in sums */
APART int part(unsigned long n) { return (unsigned char)(all.sums[n] >> 8); } /* expected: its place in sums */
APART void bytes(unsigned long n) { ((volatile char *)&all)[n] = 1; }  /* expected: the begin of all */
APART void longs(unsigned long n) { (&all.lost)[n]++; }             /* expected: lost */
static void *worker(void *p) { for (;;) all.seen++; return p; }
int main(int argc, char **argv) {
  pthread_t one;
  pthread_create(&one, 0, worker, 0);
  folded(argc), at_a_member(argc), element(argc), bytes(argc), longs(argc);
  return part(argc);
}
"""
TEXT, SUMS = 64, 200
PLACES = {
    "element": {SUMS + 4},
    "part": {SUMS, SUMS + 1},
    "bytes": {0},
    "longs": {16},
}


def places(path: str, compiled_places: bool = False) -> dict[str, set[int]]:
    """By function how far from the begin of the record it accesses it; as the code has it (``compiled_places``)."""
    image = next(iter(read_images(path)))
    names = [image.names[name] for name in image.functions["name"].tolist()]
    (record,) = [row for row in image.variables if image.names[row["name"]] == "all"]
    found: dict[str, set[int]] = {}
    sites = (image if compiled_places else with_folded_indexes(image)).sites
    for site in sites[(sites["kind"] != AccessKind.ADDRESS) & (sites["function"] >= 0)]:
        offset = int(np.int64(site["target"]) - np.int64(record["address"]))
        if names[site["function"]] in {*PLACES, "folded", "at_a_member"} and 0 <= offset < 1024:
            found.setdefault(names[site["function"]], set()).add(offset)
    return found


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_an_index_with_a_constant_part_chooses_elements_of_the_array(compiled: Compile, compiler: str) -> None:
    path = str(compiled(compiler, "c", PROGRAM, "-O2", "-g"))
    before, found = places(path, compiled_places=True), places(path)
    if compiler == "gcc":
        assert before["folded"] == {TEXT - 34}
        assert {"folded", "at_a_member"} <= {name for name, at in found.items() if at == {TEXT}}
    for name in ("element", "part", "bytes", "longs"):
        assert found[name] == before[name]
        assert found[name] <= PLACES[name]


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_without_types_it_is_where_the_code_has_it(compiled: Compile, compiler: str) -> None:
    path = str(compiled(compiler, "c", PROGRAM, "-O2"))
    assert places(path) == places(path, compiled_places=True)
