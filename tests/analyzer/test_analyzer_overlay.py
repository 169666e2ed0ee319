"""Another tree read in the place of a folder: what the facts say, and under which names.

Owns ``--top`` and ``--tree`` of the tool; what a base revision is made of is tested with ``check --base``.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.analyzer.units import Answer, database, entry, run, tool, variables


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A project in which everything is 8 bytes, and beside it ``tree`` with its older state of 4 bytes."""
    for name, size in (("top", 8), ("tree", 4)):
        (tmp_path / name / "inc").mkdir(parents=True)
        (tmp_path / name / "build").mkdir()
        (tmp_path / name / "inc" / "size.h").write_text(f"#define SIZE {size}\n")
        (tmp_path / name / "unit.c").write_text("#include <size.h>\nchar x[SIZE];\n")
    (tmp_path / "elsewhere").mkdir()
    return tmp_path / "top"


def overlaid(top: Path, *more: str | Path) -> Answer:
    return run("-p", top, "--top", top, "--tree", top.parent / "tree", *more, cwd=top.parent)


def size(answer: Answer) -> int | None:
    return variables(answer.unit)["x"].size


@pytest.mark.parametrize(
    "flag",
    ["-Iinc", "-I./inc", "-Ibuild/../inc", "-I{top}/inc", "-I{top}/../top/inc", "-I{top}/../elsewhere/../top/inc"],
)
def test_what_is_below_the_top_is_read_from_the_tree_however_it_is_spelled(top: Path, flag: str) -> None:
    database(top, entry(top, "unit.c", flag.format(top=top)))
    answer = overlaid(top)
    assert size(answer) == 4
    assert str(top / "unit.c") in answer.raw.decode()
    assert str(top.parent / "tree") not in answer.raw.decode()


@pytest.mark.parametrize("other", ["topical", "top/../elsewhere"])
def test_what_is_not_below_the_top_stays_where_it_is(top: Path, other: str) -> None:
    """A folder whose name begins alike, and one that a path through the top leads to."""
    folder = top.parent / other
    folder.mkdir(exist_ok=True)
    (folder / "own.h").write_text("#define SIZE 2\n")
    (top.parent / "tree" / "unit.c").write_text("#include <own.h>\nchar x[SIZE];\n")
    database(top, entry(top, "unit.c", f"-I{folder}"))
    assert size(overlaid(top)) == 2


def test_what_the_tree_lacks_is_not_there(top: Path) -> None:
    (top / "fresh.h").write_text("")
    (top.parent / "tree" / "unit.c").write_text('#include "fresh.h"\nchar x[4];\n')
    database(top, entry(top, "unit.c"))
    assert "'fresh.h' file not found" in overlaid(top).unit.errors[0]


def test_the_cache_keeps_both_apart(top: Path) -> None:
    """The older state counts as unchanged as long as its own files are, not those of today."""
    database(top, entry(top, "unit.c", "-Iinc"))
    cache = ("--cache", top.parent / "cache")
    answers = [run("-p", top, *cache, cwd=top), overlaid(top, *cache), overlaid(top, *cache)]
    assert [(size(answer), answer.end.cached) for answer in answers] == [(8, 0), (4, 0), (4, 1)]
    (top.parent / "tree" / "inc" / "size.h").write_text("#define SIZE 5\n")
    answers = [overlaid(top, *cache), run("-p", top, *cache, cwd=top)]
    assert [(size(answer), answer.end.cached) for answer in answers] == [(5, 0), (8, 1)]


def test_what_was_today_is_known_when_it_has_become_the_base(top: Path) -> None:
    """Of a series of changes each is parsed once: as the working tree, not again in its place."""
    database(top, entry(top, "unit.c", "-Iinc"))
    cache = ("--cache", top.parent / "cache")
    newest, base = top / "inc" / "size.h", top.parent / "tree" / "inc" / "size.h"
    answers = []
    for before, now in ((4, 8), (8, 9), (9, 10)):
        newest.write_text(f"#define SIZE {now}\n")
        base.write_text(f"#define SIZE {before}\n")
        answers += [run("-p", top, *cache, cwd=top), overlaid(top, *cache)]
    assert [(size(answer), answer.end.cached) for answer in answers] == [
        (8, 0), (4, 0), (9, 0), (8, 1), (10, 0), (9, 1)
    ]  # fmt: skip
    plain = run("-p", top, cwd=top), overlaid(top)
    assert [answer.raw for answer in plain] == [
        answer.raw.replace(b'"cached":1', b'"cached":0') for answer in (run("-p", top, *cache, cwd=top), answers[-1])
    ]


def test_the_base_of_several_pushes_stays_known(top: Path) -> None:
    database(top, entry(top, "unit.c", "-Iinc"))
    cache = ("--cache", top.parent / "cache")
    for number in range(5):
        (top / "inc" / "size.h").write_text(f"#define SIZE {10 + number}\n")
        run("-p", top, *cache, cwd=top)
        assert overlaid(top, *cache).end.cached == (number > 0)
    assert len(list((top.parent / "cache").iterdir())) <= 3, "older states are not kept for ever"


def test_units_that_begin_alike_are_read_from_the_tree_too(top: Path) -> None:
    names = [f"u{number}.c" for number in range(4)]
    for folder, text in ((top, "8"), (top.parent / "tree", "4")):
        for name in names:
            (folder / name).write_text(f'#include "inc/size.h"\nchar x[SIZE + {text}];\n')
    database(top, *(entry(top, name) for name in names))
    assert [variables(unit)["x"].size for unit in overlaid(top).units] == [8] * 4


def test_a_top_without_a_tree_is_refused(top: Path) -> None:
    database(top, entry(top, "unit.c"))
    done = subprocess.run([tool(), "-p", str(top), "--top", str(top)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--top and --tree belong together" in done.stderr
