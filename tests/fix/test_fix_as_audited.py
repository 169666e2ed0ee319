"""An audit and a check may part different variables of one finding: only one of them knows what is linked beside it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.cli import main
from linemate.fixing import asaudited
from sharing.fix.edits import Planned
from sharing.fix.plan import Plan
from sharing.model.errors import LinemateError
from sharing.model.finding import Confidence, Finding, LineRef, Participant, Remedy, Severity, Verdict

# The linked program shows what else is on the line; sources know no more than their own unit's part of .bss.
FILES = {
    "scan.h": """
#include <stdatomic.h>
extern atomic_int stop_flag;
extern atomic_ulong ticks;
void *clock_thread(void *arg); void journal(unsigned long at); void *scan_worker(void *arg);
""",
    "clock.c": """
#include "scan.h"
atomic_int stop_flag;
atomic_ulong ticks;
void *clock_thread(void *arg) {
  unsigned long at = 0;
  while (!atomic_load_explicit(&stop_flag, memory_order_relaxed)) {
    atomic_fetch_add_explicit(&ticks, 1, memory_order_relaxed);
    journal(at);
    if (++at == 4128) at = 0;
  }
  return arg;
}
void *scan_worker(void *arg) {
  while (!atomic_load_explicit(&stop_flag, memory_order_relaxed))
    __asm__ volatile("pause");
  return arg;
}
""",
    "journal.c": """
#include "scan.h"
static char ring[4128];
void journal(unsigned long at) { ring[at] = (char)at; }
""",
    "main.c": """
#include "scan.h"
#include <pthread.h>
int main(int n, char **v) {
  pthread_t c, w[3];
  pthread_create(&c, 0, clock_thread, 0);
  for (int i = 0; i < 3; i++) pthread_create(&w[i], 0, scan_worker, v);
  for (int i = 0; i < 3; i++) pthread_join(w[i], 0);
  atomic_store(&stop_flag, 1);
  return pthread_join(c, 0);
}
""",
}
ORDER = ("main", "journal", "clock")


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program with its compile database, as the current folder."""
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LINEMATE_CACHE", str(tmp_path / "cache"))

    for name, text in FILES.items():
        Path(name).write_text(text)
    flags = ["gcc", "-O2", "-g", "-pthread"]
    entries = [{"directory": str(tmp_path), "file": f"{u}.c", "arguments": [*flags, "-c", f"{u}.c"]} for u in ORDER]
    Path("compile_commands.json").write_text(json.dumps(entries))
    subprocess.run([*flags, "-o", "scan", *(f"{u}.c" for u in ORDER)], check=True)
    return tmp_path / "scan"


def identity(capsys: pytest.CaptureFixture[str]) -> str:
    """The id of the flag's finding in what was printed last."""
    return next(word for word in capsys.readouterr().out.split() if word.startswith("written-beside-read-mostly-"))


def test_another_edit_than_the_audits_is_said_to_be_another(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["audit", "scan"])
    wanted = identity(capsys)
    main(["fix", wanted])
    told = capsys.readouterr().err
    assert f"{wanted}: stop_flag: wrap it" in told
    assert "the last audit of scan parts ticks instead" in told
    for more in (["--binary", "scan"], ["--above", "medium"]):
        main(["fix", *([wanted] if more[0] == "--binary" else []), *more])
        assert "the last audit" not in capsys.readouterr().err
    main(["fix", wanted, "--binary", "scan"])
    assert f"{wanted}: ticks: wrap it" in capsys.readouterr().err


def test_what_no_audit_said_is_not_compared(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check"])
    main(["fix", identity(capsys)])
    told = capsys.readouterr().err
    assert "stop_flag: wrap it" in told
    assert "the last audit" not in told


def test_the_edit_that_the_audit_shows_is_not_said_again(
    built: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    main(["audit", "scan", "-o", str(tmp_path / "report.json")])
    main(["audit", "scan"])
    wanted = identity(capsys)
    main(["fix", wanted, "--in", str(tmp_path / "report.json")])
    told = capsys.readouterr().err
    assert f"{wanted}: ticks: wrap it" in told
    assert "the last audit" not in told


@pytest.mark.parametrize(
    ("audited", "other"),
    [
        ("start closed_ of inbox on a line of its own and depth_ behind it on the next", "inbox.closed_"),
        ("start depth_ of inbox on a line of its own", ""),
        ("start closed_.inner of inbox on a line of its own", ""),
    ],
)
def test_members_of_one_record_are_told_apart(monkeypatch: pytest.MonkeyPatch, audited: str, other: str) -> None:
    both = tuple(Participant(f"inbox.{name}", "0x40", 8, ((0, 8),), "atomic", "") for name in ("depth_", "closed_"))
    remedy = Remedy("align-member", audited, "", "C++", 135, breaks_abi=True, protects_tail=True)
    found = Finding(
        "a-0123456789", "a", Severity.LOW, Confidence.STATIC, Verdict.FALSE_SHARING, LineRef("0x40", 64), both, "", (),
        (remedy,),
    )  # fmt: skip
    monkeypatch.setattr(asaudited, "_last_audited", lambda identity: (found, "server"))
    said = asaudited.parted_otherwise([(found, (Planned(remedy, both[0], Plan((), "parts it")),))])
    assert bool(said) == bool(other)
    assert all(f"parts {other} instead" in line and "--in REPORT.json takes that edit" in line for line in said)
