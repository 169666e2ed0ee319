"""``linemate lines`` on programs compiled here: what a person types, and what is shown of it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

SOURCE = """
#include <pthread.h>
#include <stdalign.h>
struct slot { int count; long total; };
struct config { char ready; long limit; struct slot slots[8]; unsigned on : 1, mode : 3; };
alignas(64) pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct config config;
int numbers[64];
__thread long mine;
static void *work(void *unused)
{
  static long calls;
  pthread_mutex_lock(&lock);
  config.slots[3].total += ++calls + ++mine;
  pthread_mutex_unlock(&lock);
  return unused;
}
int main(int argc, char **argv)
{
  pthread_t thread;
  config.limit = argc;
  numbers[20] = argc;
  pthread_create(&thread, 0, work, argv);
  return pthread_join(thread, 0) + (int)config.limit;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc")
    folder = tmp_path_factory.mktemp("program")
    (folder / "server.c").write_text(SOURCE)
    subprocess.run([compiler, "-O1", "-g", "-pthread", "-o", "server", "server.c"], cwd=folder, check=True)
    return folder / "server"


@pytest.fixture(scope="module")
def stripped(program: Path) -> Path:
    strip = shutil.which("strip")
    if strip is None:
        pytest.skip("no strip")
    bare = program.with_name("bare")
    subprocess.run([strip, "-o", bare, program], check=True)
    return bare


def document(run: Run, *arguments: object) -> Any:
    result = run("lines", *map(str, arguments), "--format", "json")
    assert (result.code, result.err) == (0, "")
    return json.loads(result.out)


def spans(excerpt: Any) -> list[Any]:
    return [span for line in excerpt["lines"] for span in line["spans"]]


def test_members_holes_and_bit_fields_are_shown_with_their_offsets(run: Run, program: Path) -> None:
    (excerpt,) = document(run, program, "config")["layouts"][0]["excerpts"]
    assert excerpt["object"]["type"] == "config"
    assert excerpt["object"]["source"].endswith("server.c:7")
    own = [(span["offset"], span["end"] - span["start"], span["name"]) for span in spans(excerpt) if span["object"]]
    mine = [row for row in own if row[2].startswith("config")]
    assert mine[:4] == [
        (0, 1, "config.ready"),
        (1, 7, "config"),
        (8, 8, "config.limit"),
        (16, 4, "config.slots[0].count"),
    ]
    assert any(name == "config.on:1, mode:3" for _, _, name in mine)


def test_every_byte_is_covered_on_every_line_size(run: Run, program: Path) -> None:
    for size in (32, 64, 128, 256):
        for excerpt in document(run, program, "config", "lock", "--line-size", size)["layouts"][0]["excerpts"]:
            for line in excerpt["lines"]:
                assert [b for s in line["spans"] for b in range(s["start"], s["end"])] == list(range(size))


def test_accessors_are_named(run: Run, program: Path) -> None:
    lock, config = document(run, program, "lock", "config")["layouts"][0]["excerpts"]
    assert lock["object"]["lockers"] == ["work"]
    limit = next(span for span in spans(config) if span["name"] == "config.limit")
    assert (limit["writers"], limit["readers"]) == (["main"], ["main"])


@pytest.mark.parametrize(
    ("symbol", "offset"),
    [
        ("config.limit", 8),
        ("config.slots[3].total", 72),
        ("config.slots", 16),
        ("numbers[20]", 80),
        ("config+0x40", 64),
    ],
)
def test_a_member_or_element_brings_its_own_line(run: Run, program: Path, symbol: str, offset: int) -> None:
    variable = re.split(r"[.\[+]", symbol)[0]
    (whole,) = document(run, program, variable, "--context", 0)["layouts"][0]["excerpts"]
    (excerpt,) = document(run, program, symbol, "--context", 0)["layouts"][0]["excerpts"]
    address = int(whole["object"]["address"], 16) + offset
    assert (excerpt["object"]["name"], excerpt["object"]["address"]) == (symbol, hex(address))
    first = excerpt["lines"][0]
    assert int(first["address"], 16) == address - address % 64


def test_an_address_shows_its_line(run: Run, program: Path) -> None:
    lock = document(run, program, "lock")["layouts"][0]["excerpts"][0]["object"]["address"]
    (excerpt,) = document(run, program, lock, "--context", "0")["layouts"][0]["excerpts"]
    assert (excerpt["object"], [line["address"] for line in excerpt["lines"]]) == (None, [lock])


def test_statics_of_functions_and_thread_locals_are_found(run: Run, program: Path) -> None:
    calls, mine = document(run, program, "work::calls", "mine")["layouts"][0]["excerpts"]
    assert calls["object"]["name"] == "work::calls"
    assert mine["object"]["section"] == ".tbss"


def test_context_and_max_lines_bound_what_is_shown(run: Run, program: Path) -> None:
    (alone,) = document(run, program, "lock", "--context", 0)["layouts"][0]["excerpts"]
    (around,) = document(run, program, "lock", "--context", 2)["layouts"][0]["excerpts"]
    (cut,) = document(run, program, "lock", "--context", 2, "--max-lines", 2)["layouts"][0]["excerpts"]
    assert (len(alone["lines"]), len(around["lines"]), len(cut["lines"]), cut["omitted"]) == (1, 5, 2, 3)


@pytest.mark.parametrize(
    ("symbol", "message"),
    [
        ("confg", "no variable 'confg', nor a type of that name; did you mean config?"),
        ("config.limits", "no variable 'config.limits', nor a type of that name; did you mean config.lim"),
        ("config.slots[8].count", "no variable 'config.slots[8].count', nor a type of that name"),
        ("numbers[64]", "no variable 'numbers[64]', nor a type of that name"),
        ("zzzzzzzz", "no variable 'zzzzzzzz', nor a type of that name"),
        ("0x1", "address 0x1 is in no section"),
    ],
)
def test_what_is_not_there_is_said_with_the_nearest_name(run: Run, program: Path, symbol: str, message: str) -> None:
    result = run("lines", str(program), symbol)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"linemate: error: {program}: {message}")
    assert result.err.count("\n") == 1
    assert "debug information" not in result.err  # it has


def test_a_file_without_types_says_so_where_a_name_is_not_found(run: Run, stripped: Path) -> None:
    result = run("lines", str(stripped), "statistics")
    assert result.code == 2
    again = f"`linemate lines --debuginfod {stripped} statistics`"
    assert "no debug information: a build with -g has it" in result.err
    assert again in result.err
    assert "--debug-file FILE" in result.err
    assert result.err.count("\n") == 1


def test_without_a_symbol_the_writable_sections_are_summarised(run: Run, program: Path) -> None:
    (layout,) = document(run, program)["layouts"]
    rows = {row["name"]: row for row in layout["sections"]}
    assert set(rows) == {".data", ".bss"}
    assert rows[".bss"]["objects"] >= 3
    assert all(len(line["objects"]) >= 2 for line in layout["crowded"])


def test_a_stripped_program_shows_what_its_code_touches(run: Run, stripped: Path) -> None:
    (layout,) = document(run, stripped)["layouts"]
    assert sum(row["objects"] for row in layout["sections"]) >= 4
    result = run("lines", str(stripped))
    (name,) = set(re.findall(r"\w+\+0x[0-9a-f]+(?= \(mutex\))", result.out)) or {""}
    excerpt = document(run, stripped, name)["layouts"][0]["excerpts"][0]
    assert excerpt["object"]["lockers"]
    assert not any(span["kind"] == "padding" for span in spans(excerpt))


def test_an_archive_shows_each_member_once(run: Run, program: Path) -> None:
    folder = program.parent
    archiver = shutil.which("ar")
    if archiver is None:
        pytest.skip("no ar")
    (folder / "extra.c").write_text("int first, second;")
    for name in ("server", "extra"):
        subprocess.run(["gcc", "-g", "-c", "-o", f"{name}.o", f"{name}.c"], cwd=folder, check=True)
    subprocess.run([archiver, "rcs", "lib.a", "server.o", "extra.o"], cwd=folder, check=True)
    layouts = document(run, folder / "lib.a")["layouts"]
    assert [layout["target"]["member"] for layout in layouts] == ["server.o", "extra.o"]
    (layout,) = document(run, folder / "lib.a", "second")["layouts"]
    assert layout["target"]["member"] == "extra.o"


def test_the_text_reads_like_pahole(run: Run, program: Path) -> None:
    result = run("lines", str(program), "config", "--context", "0")
    assert result.code == 0
    assert re.search(r"\n  -- cacheline boundary, 0x[0-9a-f]+ --\n", result.out)
    assert re.search(r"\n  a +0 +1  config\.ready +char\n", result.out)
    assert re.search(r"\n  - +1 +7  hole in config\n", result.out)
    assert re.search(r"config\.limit +long int +wr: main\n", result.out)


def test_two_runs_are_byte_identical(run: Run, program: Path) -> None:
    assert document(run, program, "config") == document(run, program, "config")
    assert run("lines", str(program), "lock").out == run("lines", str(program), "lock").out


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"text, not a program\n"),
        lambda path: path.mkdir(),
        lambda path: None,
    ],
    ids=["empty", "text", "directory", "missing"],
)
def test_what_is_no_binary_is_one_clear_line(run: Run, make: Callable[[Path], None]) -> None:
    make(Path("input"))
    result = run("lines", "input", "x")
    assert (result.code, result.out) == (2, "")
    assert re.fullmatch(r"linemate: error: input: [^\n]+\n", result.err)
