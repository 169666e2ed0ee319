"""Records that one function begins to fill and its callers go on to fill: one object, at one time."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from sharing.model import Severity
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding

# Messages of a box: its library is called by any threads.
BOX = """\
struct message { volatile int id, mark; int kind; };
struct box;
void *box_room(struct box *, unsigned long);
int box_send(struct box *);
void log_text(const char *, ...);
static struct message *begun(struct box *b) {
  struct message *m = box_room(b, sizeof *m);
  if (!m) return m;
  m->id = 0xa05;
  m->mark = 0xdead;
  log_text("begun");
  return m;
}
int box_ask(struct box *b, int kind) {
  struct message *m = begun(b);
  if (!m) return -1;
  m->kind = kind;
  return box_send(b);
}
"""


def _independent(folder: Path, text: str) -> list[Finding]:
    """Pairs of the record that are said to be written independently."""
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    from linemate.pipeline import check_program
    from linemate.source import read_program

    (folder / "box.c").write_text(text)
    program = read_program(CheckOptions(facts=FactsRequest(sources=(str(folder / "box.c"),), flags=("-O2",))))
    findings = check_program(program, CheckOptions(min_severity=Severity.NOTE)).findings
    return [f for f in findings if f.rule == "independent-writers"]


def test_what_a_function_begins_and_its_caller_ends_is_filled_together(tmp_path: Path) -> None:
    assert not _independent(tmp_path, BOX)


def test_what_others_change_later_is_not(tmp_path: Path) -> None:
    (finding,) = _independent(tmp_path, BOX + "void box_again(struct message *m) { m->id++; }\n")
    assert {p.name.split()[-1] for p in finding.participants} >= {"message.id", "message.kind"}


def test_what_a_caller_does_not_fill_is_not(tmp_path: Path) -> None:
    other = BOX.replace("  m->kind = kind;\n", "") + "void box_turn(struct message *m, int to) { m->kind += to; }\n"
    (finding,) = _independent(tmp_path, other)
    assert {p.name.split()[-1] for p in finding.participants} >= {"message.id", "message.kind"}
