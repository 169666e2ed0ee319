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


STRUCT = "struct { _Alignas(64) volatile long value; PAD } word"
WRAPPED = {
    # what is declared of `word`, how it is used, and whether it is the plain one of the other build
    "aligned": (STRUCT.replace("PAD", ""), "word.value", True),
    "padded": ("struct { char before[64]; volatile long value; char behind[64]; } word", "word.value", True),
    "in two records": (STRUCT.replace("volatile long", "struct { volatile long n; }").replace("PAD", ""),
                       "word.value.n", True),
    # Near misses: something else of it is used as well, and it is not what the functions used.
    "with another member": (STRUCT.replace("PAD", "volatile long other;"), "word.other = word.value", False),
    "of other bytes": (STRUCT.replace("volatile long", "volatile short").replace("PAD", ""), "word.value", False),
}  # fmt: skip


@pytest.mark.parametrize("how", WRAPPED)
def test_a_variable_that_was_wrapped_is_the_same_variable(how: str, tmp_path: Path, explained: Explain) -> None:
    """As by `fix`, and taken back: it lost its alignment, and nothing was added."""
    text, use, same = WRAPPED[how]
    declared = {"plain": ("volatile long word; volatile long word2", "word")}
    declared["wrapped"] = (f"{text}; volatile long word2", use)
    made = {}
    for name, (declaration, used) in declared.items():
        code = CODE.replace("DECLARATION", f"{declaration};")
        (tmp_path / f"{name}.c").write_text(code.replace("traffic[1].in", used).replace("traffic[1].out", "word2"))
        made[name] = tmp_path / name
        subprocess.run(["gcc", "-O1", "-g", "-pthread", f"{name}.c", "-o", name], cwd=tmp_path, check=True)
    worse = layout(explained(made["wrapped"], made["plain"]).causes)
    assert worse is not None
    assert not worse.improves
    assert {worse.new_line_mates[0].first, worse.new_line_mates[0].second} == {"word", "word2"}
    assert (worse.strength, "is added" in worse.summary) == ((0.9, False) if same else (0.45, True))
    better = layout(explained(made["plain"], made["wrapped"]).causes)
    assert better is not None
    assert better.improves
    assert (better.strength == 0.9) is same


@pytest.mark.parametrize("parts", ["volatile long seen, sent;", ""])
def test_elements_that_were_wrapped_are_the_same_elements(parts: str, tmp_path: Path, explained: Explain) -> None:
    """Of records and of numbers: what was wrapped into whole lines meets again where that is taken back."""
    element, member = (f"struct {{ {parts} }}", "seen") if parts else ("volatile long", "")
    plain = f"_Alignas(64) {element} counts[4];\n#define COUNT(n) counts[n]{member and '.' + member}"
    wrapper = f"struct {{ _Alignas(64) {element} value; }} counts[4];"
    wrapped = f"{wrapper}\n#define COUNT(n) counts[n].value{member and '.' + member}"
    worker = (
        "static void *count(void *arg) { for (long i = 0; i < 60000000; i++) COUNT((long)arg) += i & 7; return 0; }\n"
        "int main(void) { pthread_t t[4]; for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, count, (void *)i);"
        " for (int i = 0; i < 4; i++) pthread_join(t[i], 0); return (int)COUNT(2); }\n"
    )
    made = {}
    for name, text in (("plain", plain), ("wrapped", wrapped)):
        (tmp_path / f"{name}.c").write_text(f"#include <pthread.h>\n{text}\n{worker}")
        made[name] = tmp_path / name
        subprocess.run(["gcc", "-O1", "-g", "-pthread", f"{name}.c", "-o", name], cwd=tmp_path, check=True)
    worse = layout(explained(made["wrapped"], made["plain"]).causes)
    assert worse is not None
    assert (worse.strength, worse.improves) == (0.9, False)
    assert "shrank" not in worse.summary


def test_no_summary_begins_without_a_subject(build: Build, explained: Explain) -> None:
    renamed = "_Alignas(64) struct traffic { volatile long in, sent; char rest[112]; } traffic[2];\n#define out sent"
    for old, new in ((BEFORE, renamed), (renamed, BEFORE)):
        for cause in explained(build(old), build(new)).causes:
            assert cause.summary[:1].strip(" ,;"), cause.summary
    gone = layout(explained(build(renamed), build(BEFORE)).causes)
    assert gone is not None
    assert gone.summary.startswith("member `[1].sent` of `traffic` is gone; ")
