"""``lines BINARY TYPE``: members and holes on lines, the accesses of all objects of the type, where each begins."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from linemate.linequery import LinesOptions, lines
from reports.linemap import render
from reports.options import RenderOptions
from sharing.model.errors import LinemateError
from sharing.model.linemap import Excerpt, Layout, LayoutReport, LayoutSpan, SpanKind
from tests.lines.test_lines_text import TARGET

# ``stats`` has 24 bytes of lock and count, a hole of 4, and its total on its second line.
SOURCE = """
#include <stdlib.h>
struct stats { long count; int state; char pad[60]; long total; };
struct unused { char letter; long number; };
struct one { long counter; };
struct counted { struct one stats[11]; char letter; struct one last[3]; };
struct counted *counts;
_Thread_local struct own { char letter; long number; } own_one;
typedef struct { int inside; } named;
struct holder { long first; struct stats within; };
struct stats first;
struct stats table[3];
struct holder holder;
const named constant = {3};
struct stats *heap;
struct unused *never;
struct other { int of_one; } other_one;
__attribute__((noinline)) void count(void) { first.count++; }
__attribute__((noinline)) void add(void) { table[1].total += 2; }
__attribute__((noinline)) int state(void) { return holder.within.state; }
int main(int argc, char **argv) {
  heap = malloc(sizeof *heap);
  never = malloc(sizeof *never);
  own_one.number++;
  count(); add();
  return state() + constant.inside + other_one.of_one;
}
"""
SECOND = "struct other { long of_another, more; } other_two;\n"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("records")
    (folder / "one.c").write_text(SOURCE)
    (folder / "two.c").write_text(SECOND)
    subprocess.run(["gcc", "-g", "-O1", "-o", "program", "one.c", "two.c"], cwd=folder, check=True, timeout=60)
    return folder / "program"


UNION = """
struct buf {
  long head;
  union { unsigned csum; struct { unsigned short csum_start, csum_offset; }; };
  union { unsigned short inner_protocol; unsigned char inner_ipproto; };
  union { long number; double real; };
  union { int whole; char text[12]; };
} one;
#define NOT __attribute__((noipa))
NOT void sum(struct buf *b) { b->csum = 5; }
NOT void start(struct buf *b) { b->csum_start = 5; }
NOT void offset(struct buf *b) { b->csum_offset = 5; }
NOT int proto(struct buf *b) { return b->inner_protocol; }
NOT int ipproto(struct buf *b) { return b->inner_ipproto; }
NOT void either(struct buf *b) { b->number = 3; }
NOT void letter(struct buf *b) { b->text[5] = 3; }
NOT void across(struct buf *b) { *(unsigned short *)(b->text + 2) = 3; }
int main(void) {
  sum(&one), start(&one), offset(&one), either(&one), letter(&one), across(&one);
  return proto(&one) + ipproto(&one);
}
"""


@pytest.fixture(scope="module")
def unions(tmp_path_factory: pytest.TempPathFactory) -> Excerpt:
    folder = tmp_path_factory.mktemp("unions")
    (folder / "u.c").write_text(UNION)
    subprocess.run(["gcc", "-g", "-O1", "-fno-ipa-icf", "-o", "u", "u.c"], cwd=folder, check=True, timeout=60)
    (found,) = excerpts(folder / "u", "buf")
    return found


def test_an_access_is_of_the_member_of_a_union_that_it_fits(unions: Excerpt) -> None:
    members = {one.name: one for span in spans(unions).values() for one in span.members}
    who = {name: {*one.readers, *one.writers} - {"main"} for name, one in members.items()}
    assert who == {
        "buf.csum": {"sum"},
        "buf.csum_start": {"start"},
        "buf.csum_offset": {"offset"},
        "buf.inner_protocol": {"proto"},
        "buf.inner_ipproto": {"ipproto"},
        "buf.number": set(),
        "buf.real": set(),
        "buf.whole": set(),
        "buf.text": {"letter"},
    }


def test_an_access_that_fits_no_member_alone_is_the_unions(unions: Excerpt) -> None:
    """``number`` and ``real`` are as large; ``across`` writes two letters."""
    rest = {name: {*span.readers, *span.writers} - {"main"} for name, span in spans(unions).items() if span.members}
    assert rest == {
        "buf.csum | csum_start | csum_offset": set(),
        "buf.inner_protocol | inner_ipproto": set(),
        "buf.number | real": {"either"},
        "buf.text | whole": {"across"},
    }


def test_members_of_a_union_stand_below_it(unions: Excerpt) -> None:
    text = render(LayoutReport("", "lines", (Layout(TARGET, (unions,)),)), RenderOptions(width=120))
    rows = [" ".join(line.split()) for line in text.splitlines()]
    at = next(number for number, row in enumerate(rows) if row.startswith("b 8 4 buf.csum | csum_start"))
    assert [row.partition("  ")[0] for row in rows[at + 1 : at + 4]] == [
        "| 8 4 buf.csum unsigned int w: main, sum",
        "| 8 2 buf.csum_start short unsigned int w: main, start",
        "| 10 2 buf.csum_offset short unsigned int w: main, offset",
    ]
    assert "csum (written by 2)" in text


def excerpts(program: Path, name: str) -> tuple[Excerpt, ...]:
    return lines(LinesOptions(str(program), (name,))).layouts[0].excerpts


def spans(excerpt: Excerpt) -> dict[str, LayoutSpan]:
    return {span.name: span for line in excerpt.lines for span in line.spans if span.kind is SpanKind.MEMBER}


def test_members_and_holes_lie_as_in_an_object_that_begins_a_line(program: Path) -> None:
    (found,) = excerpts(program, "stats")
    assert found.record
    assert [line.address for line in found.lines] == ["0x0", "0x40"]
    shown = [(s.start, s.end, s.kind, s.name) for line in found.lines for s in line.spans]
    assert shown == [
        (0, 8, SpanKind.MEMBER, "stats.count"),
        (8, 12, SpanKind.MEMBER, "stats.state"),
        (12, 64, SpanKind.MEMBER, "stats.pad[0..51]"),
        (0, 8, SpanKind.MEMBER, "stats.pad[52..59]"),
        (8, 16, SpanKind.MEMBER, "stats.total"),
        (16, 64, SpanKind.UNKNOWN, ""),
    ]


def test_what_is_done_to_any_object_is_shown_at_the_member(program: Path) -> None:
    (found,) = excerpts(program, "stats")
    by_name = spans(found)
    assert by_name["stats.count"].writers == ("count",)
    assert by_name["stats.total"].writers == ("add",)
    assert (by_name["stats.state"].readers, by_name["stats.state"].writers) == (("state",), ())


def test_every_object_in_static_storage_is_listed_where_it_is(program: Path) -> None:
    (found,) = excerpts(program, "struct stats")
    listing = subprocess.run(["nm", str(program)], capture_output=True, text=True, check=True, timeout=60).stdout
    at = {row.split()[-1]: int(row.split()[0], 16) for row in listing.splitlines() if len(row.split()) == 3}
    expected = {"first": at["first"], "holder.within": at["holder"] + 8}
    expected |= {f"table[{n}]": at["table"] + n * 80 for n in range(3)}
    assert {i.name: int(i.address, 16) for i in found.instances} == expected
    assert all(i.line_offset == int(i.address, 16) % 64 for i in found.instances)


def test_a_record_that_no_variable_holds_has_a_layout_and_no_accesses(program: Path) -> None:
    """A pointer to one is no object of it."""
    (found,) = excerpts(program, "unused")
    assert found.record
    assert found.instances == ()
    assert found.facts is not None
    assert (found.facts.holes, found.facts.hole_bytes, found.facts.handed) == (1, 7, 0)
    text = render(lines(LinesOptions(str(program), ("unused",))), RenderOptions())
    assert "who accesses its members is not known" in " ".join(text.split())


def test_an_array_of_records_with_one_member_has_no_holes(program: Path) -> None:
    (found,) = excerpts(program, "counted")
    assert found.facts is not None
    assert (found.facts.holes, found.facts.hole_bytes, found.facts.tail_bytes) == (1, 7, 0)


ENDING = """
struct job { unsigned long id; unsigned kind, len; char *body; };
struct full { unsigned long head, tail; struct job slots[10]; } full;
struct holed { char letter; struct { long value; char letter; } each[4]; } holed;
int main(void) { return (int)(full.head + holed.each[1].letter); }
"""


@pytest.mark.parametrize(("record", "holes"), [("full", (0, 0, 0)), ("holed", (4, 28, 7))])
def test_holes_of_a_record_that_ends_in_an_array_of_records(
    tmp_path: Path, record: str, holes: tuple[int, int, int]
) -> None:
    """A member of the last element is followed by less than a whole element."""
    source = tmp_path / "ending.c"
    source.write_text(ENDING)
    subprocess.run(["gcc", "-g", str(source), "-o", str(source.with_suffix(""))], check=True)
    (found,) = excerpts(source.with_suffix(""), f"struct {record}")
    assert found.facts is not None
    assert (found.facts.holes, found.facts.hole_bytes, found.facts.tail_bytes) == holes


HANDED = """
struct session { long id; int state; char pad[52]; long hits; };
struct other { long id; };
__attribute__((noinline)) void hit(float weight, struct session *s) { s->hits += (long)weight; }
__attribute__((noinline)) int state(int n, const struct session *const s) { return n + s->state; }
__attribute__((noinline)) long id_of(struct other *o) { return o->id; }
struct big { long a, b, c; };
__attribute__((noinline)) struct big whole(struct session *s) { return (struct big){s->id, 0, 0}; }
__attribute__((noinline)) long behind(struct big b, struct session *s) { return b.a + s->id; }
int main(int argc, char **argv) {
  struct session *s = (struct session *)argv;
  hit(argc, s);
  struct big b = whole(s);
  return state(argc, s) + id_of((struct other *)argv) + behind(b, s);
}
"""


def _handed(folder: Path, *options: str) -> Excerpt:
    (folder / "handed.c").write_text(HANDED)
    command = ["gcc", "-O1", "-fno-ipa-sra", *options, "-o", "handed", "handed.c"]
    subprocess.run(command, cwd=folder, check=True, timeout=60)
    (found,) = excerpts(folder / "handed", "session")
    return found


@pytest.mark.parametrize("options", [("-g",), ("-gdwarf-4",), ("-g", "-fdebug-types-section"), ("-g", "-gsplit-dwarf")])
def test_what_functions_do_through_arguments_is_shown_at_the_member(tmp_path: Path, options: tuple[str, ...]) -> None:
    """An argument is counted as calls pass it: numbers of floating point take no register of whole ones.

    Of a function that returns a record, or takes one before, the registers are not known: it is left out rather than
    taken for another.
    """
    found = _handed(tmp_path, *options)
    by_name = spans(found)
    assert (by_name["session.hits"].writers, by_name["session.hits"].readers) == (("hit",), ())
    assert (by_name["session.state"].writers, by_name["session.state"].readers) == ((), ("state",))
    assert (by_name["session.id"].writers, by_name["session.id"].readers) == ((), ())
    assert found.facts is not None
    assert found.facts.handed == 2


WORDS = """
typedef struct { union { unsigned val; struct { unsigned char locked, pending; unsigned short tail; }; }; } word_t;
struct wide { union { long first; double other; }; long second; };
struct user { long id; struct { word_t raw; } lock; word_t more[2]; union { unsigned sum; unsigned short start; };
              struct wide wide; } one;
word_t alone;
__attribute__((noipa)) void release(struct user *u) { u->lock.raw.locked = 0; }
__attribute__((noipa)) unsigned any(struct user *u) { return u->lock.raw.val + u->more[1].tail + alone.pending; }
int main(void) { release(&one); return any(&one); }
"""


def test_the_inside_of_a_word_with_a_name_and_a_type_of_its_own_is_not_shown(tmp_path: Path) -> None:
    """A spinlock is one word to whoever lays out a record; a union of the record's own has members."""
    (tmp_path / "w.c").write_text(WORDS)
    subprocess.run(["gcc", "-g", "-O1", "-o", "w", "w.c"], cwd=tmp_path, check=True, timeout=60)
    (found,) = excerpts(tmp_path / "w", "user")
    by_name = spans(found)
    lock = by_name["user.lock.raw"]
    assert (lock.members, set(lock.writers) - {"main"}, set(lock.readers) - {"main"}) == ((), {"release"}, {"any"})
    assert by_name["user.more[1]"].type == "word_t"
    (variable,) = excerpts(tmp_path / "w", "alone")
    assert (spans(variable)["alone"].members, spans(variable)["alone"].type) == ((), "word_t")
    assert [one.name for one in by_name["user.sum | start"].members] == ["user.sum", "user.start"]
    assert [one.name for one in by_name["user.wide.first | other"].members] == ["user.wide.first", "user.wide.other"]


MIXED = """
#include <pthread.h>
struct table { _Atomic long uses; long mode; long rare; char apart[40]; pthread_mutex_t lock; long seen; char rest[16];
               long size; };
#define NOT __attribute__((noipa))
NOT void get(struct table *t) { t->uses++; }
NOT void put(struct table *t) { t->uses--; }
NOT void locked(struct table *t) { pthread_mutex_lock(&t->lock); t->seen++; pthread_mutex_unlock(&t->lock); }
#define READ(n) NOT long read##n(struct table *t) { return t->mode + t->size; }
READ(1) READ(2) READ(3) READ(4)
NOT long rarely(struct table *t) { return t->rare; }
int main(int argc, char **argv) {
  struct table *t = (struct table *)argv;
  get(t), put(t), locked(t);
  return read1(t) + read2(t) + read3(t) + read4(t) + rarely(t);
}
"""


def test_what_many_read_beside_an_atomic_or_a_lock_is_told_of_its_line(tmp_path: Path) -> None:
    """Not what one function reads, nor what is on another line: ``size`` begins the line behind the lock's."""
    (tmp_path / "m.c").write_text(MIXED)
    command = ["gcc", "-g", "-O2", "-fno-ipa-icf", "-o", "m", "m.c", "-pthread"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    text = render(lines(LinesOptions(str(tmp_path / "m"), ("struct table",))), RenderOptions(width=160))
    told = [" ".join(line.split()) for line in text.splitlines() if "mixed:" in line]
    assert told == [
        "read by many beside what is locked or changed atomically: see mixed: in the 1 line at byte 0",
        "mixed: uses (updated by 2) beside mode (read by 4)",
    ]


POINTERS = """
#include <pthread.h>
#include <stdlib.h>
#define NOT __attribute__((noipa))
struct range { long low, high; };
struct item { long id; pthread_mutex_t lock; long count; struct range range; };
struct bystander { long id; };
static struct item *kept;
static struct bystander *other;
NOT void widen(long *low) { *low -= 1; }
NOT void take(struct item *i) { pthread_mutex_lock(&i->lock); i->count++; pthread_mutex_unlock(&i->lock); }
NOT void part(struct item *i) { widen(&i->range.low); }
NOT void whole(struct item *i) { take(i); }
NOT void behind(void) { pthread_mutex_lock(&kept->lock); kept->id = 3; pthread_mutex_unlock(&kept->lock); }
NOT void beside(void) { other->id = 4; }
int main(void) {
  kept = calloc(1, sizeof *kept);
  other = calloc(1, sizeof *other);
  part(kept), whole(kept), behind(), beside();
  return 0;
}
"""


@pytest.fixture(scope="module")
def pointers(tmp_path_factory: pytest.TempPathFactory) -> Excerpt:
    folder = tmp_path_factory.mktemp("pointers")
    (folder / "p.c").write_text(POINTERS)
    subprocess.run(
        ["gcc", "-g", "-O2", "-fno-ipa-icf", "-o", "p", "p.c", "-pthread"], cwd=folder, check=True, timeout=60
    )
    (found,) = excerpts(folder / "p", "item")
    return found


def test_locks_are_taken_through_pointers_too(pointers: Excerpt) -> None:
    """By who is handed the object, by who hands it to such a function, and behind a static pointer."""
    lock = {name: span for line in pointers.lines for span in line.spans for name in span.users[0]}
    assert set(lock) - {"main"} == {"take", "whole", "behind"}
    assert all(span.name.startswith("item.lock") for span in lock.values())


def test_what_is_done_to_a_part_is_done_by_who_hands_it_on(pointers: Excerpt) -> None:
    """A function that hands on the whole object does nothing to its members: who is handed it speaks for itself."""
    by_name = spans(pointers)
    assert by_name["item.range.low"].writers == ("part",)
    assert by_name["item.count"].writers == ("take",)


def test_a_static_pointer_leads_to_objects_of_its_type(pointers: Excerpt) -> None:
    assert spans(pointers)["item.id"].writers == ("behind",)
    assert pointers.facts is not None
    assert pointers.facts.pointers == ("kept",)
    text = " ".join(render(LayoutReport("", "lines", (Layout(TARGET, (pointers,)),)), RenderOptions()).split())
    assert "handed a pointer to one and through kept; what goes through other pointers is not shown" in text


def test_a_variable_with_several_pointers_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(
        """
#include <stdlib.h>
struct item { long id; };
struct { struct item *first, *last; } list;
__attribute__((noipa)) void both(void) { list.first->id = 1; list.last->id++; }
int main(void) { list.first = list.last = malloc(sizeof *list.first); both(); return 0; }
"""
    )
    subprocess.run(["gcc", "-g", "-O2", "-o", "p", "p.c"], cwd=tmp_path, check=True, timeout=60)
    (found,) = excerpts(tmp_path / "p", "item")
    assert found.facts is not None
    assert found.facts.pointers == ("list",)
    assert spans(found)["item.id"].writers == ("both",)


def test_a_thread_local_object_has_a_layout_and_no_place(program: Path) -> None:
    (found,) = excerpts(program, "own")
    assert found.instances == ()
    assert [s.end - s.start for s in found.lines[0].spans if s.kind is SpanKind.HOLE] == [7]
    text = render(lines(LinesOptions(str(program), ("own",))), RenderOptions())
    assert "no object of it has static storage" in text
    assert "16 bytes, on 1 line where it begins one" in text


def test_a_typedef_is_a_name_of_its_record(program: Path) -> None:
    (found,) = excerpts(program, "named")
    assert [i.name for i in found.instances] == ["constant"]


def test_records_of_one_name_that_differ_are_shown_apart(program: Path) -> None:
    found = excerpts(program, "struct other")
    assert [tuple(i.name for i in one.instances) for one in found] == [("other_one",), ("other_two",)]
    assert [one.object.size for one in found if one.object] == [4, 16]


def test_a_variable_of_the_name_comes_first(program: Path) -> None:
    (found,) = excerpts(program, "holder")
    assert not found.record
    (found,) = excerpts(program, "struct holder")
    assert found.record


def test_of_a_member_of_a_type_the_lines_around_it_are_shown(program: Path) -> None:
    (found,) = lines(LinesOptions(str(program), ("struct stats.total",), context=0)).layouts[0].excerpts
    assert [line.address for line in found.lines] == ["0x40"]
    assert spans(found)["struct stats.total"].writers == ("add",)
    (found,) = excerpts(program, "stats.count")  # one line on either side, as far as there are any
    assert [line.address for line in found.lines] == ["0x0", "0x40"]
    with pytest.raises(LinemateError, match=r"no variable 'stats\.absent', nor a type of that name"):
        excerpts(program, "stats.absent")


def test_what_is_neither_is_refused(program: Path) -> None:
    with pytest.raises(LinemateError, match="no variable 'statistics', nor a type of that name"):
        excerpts(program, "statistics")


def test_text_marks_what_is_written_and_where_lines_end(program: Path) -> None:
    text = render(lines(LinesOptions(str(program), ("stats",))), RenderOptions())
    assert "-- cacheline boundary, byte 64 --" in text
    assert "|AAAAAAAA|bbbbcccc|cccccccc" in text  # a letter a member
    assert "accesses are those of these objects in static storage; what goes through other pointers is not" in text
    assert "table[1] at 0x" in text


def test_a_member_is_described_by_what_is_done_to_it_alone(program: Path) -> None:
    (found,) = excerpts(program, "holder.within.state")
    assert found.object is not None
    assert (found.object.name, found.object.size, found.object.readers) == ("holder.within.state", 4, ("state",))
    (found,) = excerpts(program, "holder.first")
    assert found.object is not None
    assert (found.object.size, found.object.readers) == (8, ())
