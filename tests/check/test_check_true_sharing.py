"""One variable that all threads change: a note in ``check``, also where nothing shares its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from linemate.pipeline import check_program
from linemate.source import read_program
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding, Severity

PROGRAM = """
#include <pthread.h>
#include <stdatomic.h>
%(declared)s
static void *work(void *arg) {
  for (;;)
    %(changed)s;
  return arg;
}
int main(void) {
  pthread_t threads[8];
  %(loop)s
    pthread_create(&threads[i], 0, work, 0);
  return pthread_join(threads[0], 0) + (int)%(read)s;
}
"""
ALONE = {
    "declared": "static atomic_long used;",
    "changed": "atomic_fetch_add(&used, 1)",
    "loop": "for (int i = 0; i < 8; i++)",
    "read": "used",
}


def notes(folder: Path, **words: object) -> list[Finding]:
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    source = folder / "program.c"
    source.write_text(PROGRAM % {**ALONE, **words})
    request = FactsRequest(sources=(str(source),), flags=("-O2",))
    options = CheckOptions(facts=request, min_severity=Severity.NOTE)
    return list(check_program(read_program(options), options).findings)


def test_a_counter_that_is_alone_on_its_line(tmp_path: Path) -> None:
    (note,) = notes(tmp_path)
    assert (note.rule, str(note.severity), str(note.verdict)) == ("shared-counter", "note", "true sharing")
    assert "padding does not help" in note.message
    assert " offsets at which " not in note.message


def test_a_counter_of_one_thread_is_none(tmp_path: Path) -> None:
    assert notes(tmp_path, loop="int i = 0;") == []


def test_a_slot_for_each_thread_is_what_the_note_asks_for(tmp_path: Path) -> None:
    declared = (
        "struct slot { _Alignas(64) atomic_long used; };\n"
        "static struct slot slots[8];\nstatic __thread unsigned self;\n"
    )
    changed = "atomic_fetch_add(&slots[self].used, 1)"
    assert notes(tmp_path, declared=declared, changed=changed, read="slots[0].used") == []


RECORDS = {
    "declared": "#include <stdlib.h>\nstruct metric { atomic_long used; };\nstruct metric *find(void *);\n",
    "changed": "atomic_fetch_add(&find(arg)->used, 1)",
    "read": "find(0)->used",
}


def test_a_member_of_records_may_be_of_another_one_for_each_thread(tmp_path: Path) -> None:
    (note,) = notes(tmp_path, **RECORDS)
    assert (note.rule, str(note.severity), str(note.verdict)) == ("shared-counter", "note", "inconclusive")
    assert "where these change it in one object" in note.message
    assert " offsets at which " not in note.message
