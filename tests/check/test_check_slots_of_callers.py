"""A library that splits its counts by threads expects many of them, however seldom it is estimated to be called."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from linemate.pipeline import check_program
from linemate.source import read_program
from sharing.model.errors import LinemateError
from sharing.model.finding import Severity

MUCH_ELSE = 200
# Much else that callers may do as well: of what they do at all a request for memory is a small part.
LIBRARY = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct shard { %(align)s atomic_size_t bytes; size_t plain; };
struct pool { struct shard shards[32]; long limit; };
static struct shard *pick(struct pool *p, unsigned any) {
  size_t me = (size_t)%(who)s;
  size_t i = (me >> 3) & 31;
  return &p->shards[i];
}
struct pool *pool_new(long limit) {
  struct pool *p = aligned_alloc(64, 1 << 12);
  p->limit = limit;
  return p;
}
void *pool_get(struct pool *p, size_t n, unsigned any) { %(change)s; return malloc(n); }
struct list { struct list *next; long keys[8]; };
""" + "\n".join(
    f"long walk{i}(struct list *l) {{ long n = 0; for (; l; l = l->next) for (int k = 0; k < 8; k++)"
    f" for (int j = 0; j < 8; j++) for (int m = 0; m < 8; m++) l->keys[k] += n += j * m; return n; }}"
    for i in range(MUCH_ELSE)
)
ATOMIC = "atomic_fetch_add(&pick(p, any)->bytes, n)"


def grades(folder: Path, who: str = "pthread_self()", change: str = ATOMIC, align: str = "") -> list[Severity]:
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    source = folder / "pool.c"
    source.write_text(LIBRARY % {"who": who, "change": change, "align": align})
    options = CheckOptions(
        facts=FactsRequest(sources=(str(source),), flags=("-O2",)), min_severity=Severity.NOTE, edits=False
    )
    found = check_program(read_program(options), options).findings
    return [one.severity for one in found if any("shard" in p.name for p in one.participants)]


def test_atomics_at_the_number_of_the_running_thread(tmp_path: Path) -> None:
    assert grades(tmp_path) == [Severity.MEDIUM]


@pytest.mark.parametrize(
    "other",
    [
        {"who": "any"},  # whom the index is of its callers know
        {"change": "pick(p, any)->plain += n"},  # counts that may be lost are of no more than one thread
        {"align": "_Alignas(64)"},
    ],
)
def test_what_is_not_split_so_is_a_note_at_most(tmp_path: Path, other: dict[str, str]) -> None:
    assert max((one.rank for one in grades(tmp_path, **other)), default=0) <= Severity.LOW.rank
