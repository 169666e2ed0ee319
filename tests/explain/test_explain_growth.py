"""Records behind pointers that grew, in files without debug information: told by how far members moved in code."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sharing.explain import numbers
from sharing.explain.bodychanges import sorted_out
from sharing.explain.growth import Growth, growths
from sharing.explain.moves import Moves
from sharing.model.comparison import Cause, CauseKind, Comparison
from tests.explain.conftest import Explain

SOURCE = """
#include <pthread.h>
#include <stdlib.h>
#define ALL(c, n) (c->calls->op[1](c, n) + c->calls->op[2](c, n) + c->calls->op[3](c, n))
struct conn;
struct calls {{ long (*head[20])(struct conn *, long); {more_calls} long (*op[8])(struct conn *, long); }};
struct conn {{ const struct calls *calls; long head[20]; {new} long a, b, c, d; {last} }};
static long same(struct conn *c, long n) {{ return n ^ c->head[0]; }}
static struct calls table = {{.op = {{same, same, same, same}}}};
__attribute__((noinline)) struct conn *opened(void) {{
  struct conn *c = calloc(1, sizeof(struct conn));
  c->calls = &table;
  return c;
}}
__attribute__((noinline)) struct conn *copied(struct conn *from) {{
  struct conn *c = calloc(2, sizeof(struct conn));
  c->a = from->b + from->d;
  return c;
}}
__attribute__((noinline)) struct conn *moved(struct conn *from) {{
  struct conn *c = calloc(3, sizeof(struct conn));
  c->c = from->head[0];
  return c;
}}
__attribute__((noinline)) long one(struct conn *c, long n) {{ c->a += n; return c->b; }}
__attribute__((noinline)) long two(struct conn *c, long n) {{ c->b ^= n; return c->c; }}
__attribute__((noinline)) long three(struct conn *c, long n) {{ c->c -= n; return c->{which}; }}
__attribute__((noinline)) long four(struct conn *c, long n) {{ c->d |= n; return c->a; }}
__attribute__((noinline)) long five(struct conn *c, long n) {{ return ALL(c, n) + 1; }}
__attribute__((noinline)) long six(struct conn *c, long n) {{ return ALL(c, n) + 2; }}
__attribute__((noinline)) long seven(struct conn *c, long n) {{ return ALL(c, n) + 3 {edit}; }}
static void *work(void *at) {{
  struct conn *c = at;
  for (long i = 0; i < 100000000; i++)
    c->head[0] += one(c, i) + two(c, i) + three(c, i) + four(c, i) + five(c, i) + six(c, i) + seven(c, i);
  return copied(moved(c));
}}
int main(int argc, char **argv) {{
  pthread_t first, second;
  pthread_create(&first, 0, work, opened()), pthread_create(&second, 0, work, opened());
  pthread_join(first, 0), pthread_join(second, 0);
  return argv[argc] != 0;
}}
"""
PLAIN = {"more_calls": "", "new": "", "last": "long spare[16];", "which": "d", "edit": ""}


def built(folder: Path, name: str, **edit: str) -> Path:
    (folder / f"{name}.c").write_text(SOURCE.format(**(PLAIN | edit)))
    subprocess.run(["gcc", "-O2", "-rdynamic", "-s", "-pthread", f"{name}.c", "-o", name], cwd=folder, check=True)
    return folder / name


def of(found: Comparison, kind: CauseKind) -> list[Cause]:
    return [cause for cause in found.causes if cause.kind is kind]


@pytest.mark.parametrize(
    ("longs", "strength"), [(2, numbers.GREW), (8, numbers.GREW_BY_LINES)], ids=["by 16", "by a line"]
)
def test_members_that_moved_alike_in_many_functions_are_a_record_that_grew(
    explained: Explain, tmp_path: Path, longs: int, strength: float
) -> None:
    found = explained(built(tmp_path, "old"), built(tmp_path, "new", new=f"long more[{longs}];"))
    (cause,) = found.causes
    assert (cause.kind, cause.strength, cause.improves) == (CauseKind.LAYOUT, strength, False)
    assert f"offsets from 0xa8 upwards grew by {8 * longs:#x} in 6 functions: a record grew" in cause.summary
    size = 168 + 32 + 128
    assert f"its size was {size} bytes, now {size + 8 * longs}, by numbers that grew alike" in cause.evidence
    assert any("by whole lines of 64 bytes" in text for text in cause.evidence) == (longs == 8)
    assert "which record it is and which of its members meet on a line is not known" in cause.evidence[0]


def test_a_record_that_shrank_and_an_edit_are_two_causes(explained: Explain, tmp_path: Path) -> None:
    found = explained(built(tmp_path, "old", new="long more[2];"), built(tmp_path, "new", edit="^ 5 * n"))
    (layout,), (code,) = of(found, CauseKind.LAYOUT), of(found, CauseKind.CODE)
    assert "offsets from 0xb8 upwards shrank by 0x10 in 6 functions: a record shrank" in layout.summary
    assert code.summary.startswith("1 busy function changed")
    assert code.strength > layout.strength


def test_a_record_that_grew_behind_all_that_is_used_moved_nothing(explained: Explain, tmp_path: Path) -> None:
    """Its size is another, which is handed to calloc; no member of it moved."""
    found = explained(built(tmp_path, "old"), built(tmp_path, "new", last="long spare[18];"))
    assert not of(found, CauseKind.LAYOUT)
    assert of(found, CauseKind.CODE)


def test_another_member_in_one_function_is_a_change_of_code(explained: Explain, tmp_path: Path) -> None:
    found = explained(built(tmp_path, "old"), built(tmp_path, "new", which="b"))
    assert not of(found, CauseKind.LAYOUT)
    (cause,) = of(found, CauseKind.CODE)
    assert cause.summary.startswith("1 busy function changed")


def test_a_table_of_functions_that_grew_is_no_cause(explained: Explain, tmp_path: Path) -> None:
    new = built(tmp_path, "new", more_calls="long (*more)(struct conn *, long);")
    found = explained(built(tmp_path, "old"), new)
    assert [cause.kind for cause in found.causes] == [CauseKind.NONE]
    note = "a table of functions, as of virtual ones, grew by 0x8 from 0xa8 onwards: 3 functions call through it"
    assert f"code: {note}" in found.coverage.notes


def moves(*members: tuple[int, int], **more: frozenset[tuple[int, int]]) -> Moves:
    return Moves(members=frozenset(members), **more)


def test_a_record_grew_where_three_distances_in_three_functions_did() -> None:
    alike = {1: moves((8, 16), (24, 32)), 2: moves((8, 16), (24, 32), (40, 48)), 3: moves((8, 16), (24, 32), (40, 48))}
    assert growths(alike) == []  # (40, 48) moved in two functions
    alike[4] = moves((40, 48))
    assert growths(alike) == [Growth(8, 8, 8, frozenset({1, 2, 3, 4}), of_functions=False)]
    assert growths({row: one for row, one in alike.items() if row != 2}) == []


def test_where_it_grew_is_said_by_nearly_all_of_its_functions() -> None:
    """Few may use another record that grew alike, from elsewhere on."""
    alike = {row: moves((800, 864), (808, 872), (900, 964)) for row in range(200)}
    alike |= {row: moves((16, 80)) for row in range(200, 203)}
    (found,) = growths(alike)
    assert (found.first, found.mostly) == (16, 800)
    alike |= {row: moves((16, 80)) for row in range(203, 240)}
    (found,) = growths(alike)
    assert (found.first, found.mostly) == (16, 16)


def test_what_does_not_follow_from_growth_is_a_change() -> None:
    grew = {row: moves((8, 16), (24, 32), (40, 48)) for row in range(3)}
    with_more = {
        3: moves((8, 16), numbers=frozenset({(64, 72)})),  # its size
        4: moves((8, 16), numbers=frozenset({(64, 80)})),
        5: moves((8, 16), (56, 96)),
        6: moves((8, 16), added=frozenset({(24, 32)})),
        7: moves((8, 16), added=frozenset({(24, 25)})),
        8: None,
    }
    found = sorted_out({**grew, **with_more})
    assert found.relaid == {0, 1, 2, 3, 6}
    assert sorted(found.changed.tolist()) == [4, 5, 7, 8]
