"""Edits of types whose objects are allocated: by alignment where that holds, else by padding, or not at all."""

from __future__ import annotations

import re

import pytest

from sharing.fix.edits import attach_edits
from tests.fix.program import LONG, ProgramBuilder, finding, read
from tests.fix.test_fix_edits import UNNAMED, edited, refusal


def test_a_type_from_malloc_is_not_aligned_in_vain(builder: ProgramBuilder) -> None:
    unit = builder.unit(builder.file("job.c", "struct job { long n; };\n"))
    unit.allocation(unit.record("struct job { long n; }", "job", (("long n", "n", LONG),)))
    assert "job.c:1 allocates it without alignment" in refusal(builder, finding("key-job"))


def test_a_type_of_unknown_origin_is_not_aligned_in_vain(builder: ProgramBuilder) -> None:
    unit = builder.unit(builder.file("job.c", "struct job { long n; };\n"))
    unit.record("struct job { long n; }", "job", (("long n", "n", LONG),))
    assert "it was not seen where its objects come from" in refusal(builder, finding("key-job"))


def test_objects_one_after_another_are_padded_where_alignment_does_not_hold(builder: ProgramBuilder) -> None:
    text = "struct job {\n  long n; /* done */\n};\n"
    unit = builder.unit(builder.file("job.c", text))
    unit.allocation(unit.record(text[: text.index("};") + 1], "job", (("long n", "n", LONG),)))
    wanted = finding("key-job", rule="packed-thread-slots")
    assert edited(builder, wanted)["job.c"] == text.replace("*/", f"*/\n  {UNNAMED}")


def test_elements_of_no_type_of_the_projects_own_are_not_padded(builder: ProgramBuilder) -> None:
    unit = builder.unit(builder.file("job.c", "struct job { long n; };\n"))
    unit.record("struct job { long n; }", "jobs_[]", (("long n", "n", LONG),))
    assert "no type of their own" in refusal(builder, finding("key-jobs_[]", kind="pad-element"))


def test_objects_whose_allocation_is_aligned_are_aligned_instead(builder: ProgramBuilder) -> None:
    text = "struct job { long n; };\n"
    unit = builder.unit(builder.file("job.c", text))
    job = unit.record("struct job { long n; }", "job", (("long n", "n", LONG),))
    unit.allocation(job, api="aligned_alloc", guarantee=64)
    assert UNNAMED not in edited(builder, finding("key-job", kind="pad-element"))["job.c"]


def test_a_type_that_is_allocated_by_a_number_of_bytes_does_not_grow(builder: ProgramBuilder) -> None:
    unit = builder.unit(builder.file("job.c", "struct job { long n; };\n"))
    job = unit.record("struct job { long n; }", "job", (("long n", "n", LONG),))
    unit.allocation(job, api="aligned_alloc", guarantee=64, by_number=True)
    for kind in ("pad-type", "pad-element"):
        assert "job.c:1 allocates it by a number of bytes" in refusal(builder, finding("key-job", kind=kind))
    (remedy,) = attach_edits(finding("key-job"), builder.program(), read).remedies  # what a report shows of it
    assert re.search(r"^move key-job; but \S+job\.c:1 allocates it by a number of bytes, ", remedy.text)


@pytest.mark.parametrize(("standard", "allowed"), [("c++14", False), ("c++17", True), ("gnu++20", True)])
def test_new_aligns_as_the_type_asks_from_cxx17_on(builder: ProgramBuilder, standard: str, allowed: bool) -> None:
    path = builder.file("job.cc", "struct job { long n; };\n")
    unit = builder.unit(path, language="C++", standard=standard)
    unit.allocation(unit.record("struct job { long n; }", "job", (("long n", "n", LONG),)), api="new")
    if allowed:
        assert edited(builder, finding("key-job"))["job.cc"] == "struct alignas(64) job { long n; };\n"
    else:
        assert "allocates it without alignment" in refusal(builder, finding("key-job"))
