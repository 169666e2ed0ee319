"""With longer lines than the architecture has, slots of whole lines are only fetched together."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from linemate.pipeline import check_program
from linemate.source import read_program
from sharing.model.errors import LinemateError
from sharing.model.finding import Severity

PROGRAM = """
#include <pthread.h>
struct slot { long done; %(more)s } %(aligned)s;
static struct slot slots[16];
static __thread unsigned self;
static void *work(void *arg) {
  self = (unsigned)(long)arg;
  for (;;)
    slots[self].done++;
}
int main(void) {
  pthread_t threads[16];
  for (long i = 0; i < 16; i++)
    pthread_create(&threads[i], 0, work, (void *)i);
  return pthread_join(threads[0], 0);
}
"""


@pytest.mark.parametrize(
    ("aligned", "more", "line_size", "severity"),
    [
        ("__attribute__((aligned(64)))", "", 128, Severity.MEDIUM),
        ("__attribute__((aligned(64)))", "", None, None),
        ("", "", 128, Severity.HIGH),  # several share a line of any length
        ("", "char more[24];", 128, Severity.HIGH),
        ("__attribute__((aligned(128)))", "", 128, None),
    ],
)
def test_slots_of_whole_lines(
    tmp_path: Path, aligned: str, more: str, line_size: int | None, severity: Severity | None
) -> None:
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    source = tmp_path / "slots.c"
    source.write_text(PROGRAM % {"aligned": aligned, "more": more})
    request = FactsRequest(sources=(str(source),), flags=("-O2",))
    options = CheckOptions(facts=request, line_size=line_size, min_severity=Severity.LOW, edits=False)
    found = check_program(read_program(options), options).findings
    assert [one.severity for one in found if one.rule == "packed-thread-slots"] == [severity] * (severity is not None)
