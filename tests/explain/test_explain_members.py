"""Records that were laid out anew: members that meet or part inside of one variable."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sharing.model.comparison import Cause, CauseKind
from tests.explain.conftest import Explain

BEFORE = "_Alignas(64) struct traffic { volatile long in; char pad[56]; volatile long out; char rest[56]; } traffic[2];"
CODE = """
#include <pthread.h>
DECLARATION
static void *receive(void *unused) { for (long i = 0; i < 60000000; i++) traffic[1].in += i & 7; return unused; }
static void *transmit(void *unused) { for (long i = 0; i < 60000000; i++) traffic[1].out += i & 7; return unused; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, receive, 0), pthread_create(&b, 0, transmit, 0);
  pthread_join(a, 0), pthread_join(b, 0);
}
"""
Build = Callable[[str], Path]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    done: dict[str, Path] = {}

    def made(declaration: str) -> Path:
        if declaration not in done:
            folder = tmp_path_factory.mktemp("members")
            (folder / "main.c").write_text(CODE.replace("DECLARATION", declaration))
            subprocess.run(["gcc", "-O1", "-g", "-pthread", "main.c", "-o", "program"], cwd=folder, check=True)
            done[declaration] = folder / "program"
        return done[declaration]

    return made


def layout(found: tuple[Cause, ...]) -> Cause | None:
    return next((c for c in found if c.kind is CauseKind.LAYOUT), None)


@pytest.mark.parametrize(
    ("declaration", "sentence"),
    [
        (
            BEFORE.replace("char pad[56]; volatile long out;", "volatile long out; char pad[56];"),
            "`traffic[1].out` is at byte 136 of `traffic`, before at byte 192",
        ),
        (
            "_Alignas(64) struct traffic { volatile long in, out; char rest[112]; } traffic[2];",
            "`traffic[1].out` is at byte 136 of `traffic`, before at byte 192",
        ),
    ],
    ids=["another order, the same size", "without the padding"],
)
def test_members_that_meet_inside_of_a_variable_are_the_cause(
    build: Build, explained: Explain, declaration: str, sentence: str
) -> None:
    found = explained(build(BEFORE), build(declaration))
    first = found.causes[0]
    assert (first.kind, first.improves, first.follows) == (CauseKind.LAYOUT, False, None)
    assert sentence in first.summary
    assert {first.new_line_mates[0].first, first.new_line_mates[0].second} == {"traffic[1].in", "traffic[1].out"}
    back = explained(build(declaration), build(BEFORE)).causes[0]
    assert back.improves
    assert "`traffic[1].out` is at byte 192 of `traffic`, before at byte 136" in back.summary


def test_a_member_behind_the_others_moves_nothing(build: Build, explained: Explain) -> None:
    """The near miss: the record grows and its members keep their lines."""
    larger = BEFORE.replace("char rest[56];", "char rest[56]; char more[64];")
    assert layout(explained(build(BEFORE), build(larger)).causes) is None


def test_a_member_of_another_name_is_another_member(build: Build, explained: Explain) -> None:
    """What is new on a line came with new code: it says less than a move."""
    renamed = "_Alignas(64) struct traffic { volatile long in, sent; char rest[112]; } traffic[2];\n#define out sent"
    worse = layout(explained(build(BEFORE), build(renamed)).causes)
    assert worse is not None
    assert worse.strength < 0.9


def test_a_record_that_grew_by_a_member_is_named(build: Build, explained: Explain) -> None:
    record = (
        "_Alignas(64) struct {{ volatile long in; volatile char name[8]; {} }} cache;\n#define traffic (&cache - 1){}"
    )
    old = build(record.format("", "\n#define out name[0]"))
    new = build(record.format("volatile long out;", ""))
    worse = layout(explained(old, new).causes)
    assert worse is not None
    assert worse.summary.startswith("`cache` grew from 16 to 24 bytes (new: member `out`); ")
    assert "cache" in worse.symbols


def test_a_variable_that_was_wrapped_has_no_member_without_a_name(tmp_path: Path, explained: Explain) -> None:
    """As by `fix`: before it was no record, and had no members."""
    struct = "struct { _Alignas(64) volatile long value; } word"
    declared = {"plain": ("volatile long word", "word"), "wrapped": (struct, "word.value")}
    made = {}
    for name, (text, use) in declared.items():
        code = CODE.replace("DECLARATION", f"{text}; volatile long word2;")
        (tmp_path / f"{name}.c").write_text(code.replace("traffic[1].in", use).replace("traffic[1].out", "word2"))
        made[name] = tmp_path / name
        subprocess.run(["gcc", "-O1", "-g", "-pthread", f"{name}.c", "-o", name], cwd=tmp_path, check=True)
    for old, new, verb in (("plain", "wrapped", "grew from 8 to 64"), ("wrapped", "plain", "shrank from 64 to 8")):
        found = layout(explained(made[old], made[new]).causes)
        assert found is not None
        assert f"`word` {verb} bytes; " in found.summary


def test_no_summary_begins_without_a_subject(build: Build, explained: Explain) -> None:
    renamed = "_Alignas(64) struct traffic { volatile long in, sent; char rest[112]; } traffic[2];\n#define out sent"
    for old, new in ((BEFORE, renamed), (renamed, BEFORE)):
        for cause in explained(build(old), build(new)).causes:
            assert cause.summary[:1].strip(" ,;"), cause.summary
    gone = layout(explained(build(renamed), build(BEFORE)).causes)
    assert gone is not None
    assert gone.summary.startswith("member `[1].sent` of `traffic` is gone; ")
