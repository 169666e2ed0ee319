"""The map of writable memory: every variable, who does what to which bytes on which threads, and what is hot."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

import pytest

from elfscan.debug.demangle import demangle
from linemate.auditing import pagemap
from linemate.auditing.pagemap import MAX_FILE_BYTES, excerpts
from sharing.judge.memorymap import memory_map
from sharing.judge.passes import Passes, run_passes
from sharing.judge.static import JudgeOptions, judge
from sharing.knowledge import default_knowledge
from sharing.model import SiteFlag
from sharing.model.memorymap import MapMember, MemoryMap, Verb
from tests.builders.image import BSS, DATA, Builder, threads


def counters() -> Builder:
    """Two threads: each counts, one reads how far; before, something is set once."""
    b = Builder()
    threads(b, "left", "right").store("started")
    b.function("left").rmw("hits", loop=1, flags=SiteFlag.ATOMIC).load("limit").load("limit")
    b.function("right").rmw("misses", loop=1)
    b.variable("hits", 8)
    b.variable("misses", 8, at=BSS + 8)
    b.variable("started", 4, at=BSS + 256)
    b.variable("limit", 4, at=DATA + 4)
    return b


def passes(b: Builder) -> Passes:
    return run_passes(b.image(), default_knowledge(), demangle)


def drawn(b: Builder) -> MemoryMap:
    return memory_map(passes(b), 64)


def accesses(found: MemoryMap) -> set[tuple[str, int, str, Verb]]:
    """(section, offset, function, verbs) of all."""
    return {
        (section.name, offset, found.functions[function], Verb(verbs))
        for section in found.sections
        for offset, function, verbs in zip(
            accumulate(section.accesses.distances), section.accesses.functions, section.accesses.verbs, strict=True
        )
    }


def test_sections_have_their_variables_by_address() -> None:
    data, bss = sorted(drawn(counters()).sections, key=lambda section: section.address)
    assert (data.name, data.address, data.variables.names) == (".data", f"{DATA:#x}", ["limit"])
    assert (data.variables.distances, data.variables.sizes) == ([4], [4])
    assert (bss.address, bss.variables.names, bss.variables.distances) == (
        f"{BSS:#x}",
        ["hits", "misses", "started"],
        [0, 8, 248],
    )


def test_what_a_function_does_to_the_same_bytes_is_one_access() -> None:
    assert accesses(drawn(counters())) >= {
        (".bss", 0, "left", Verb.READS | Verb.WRITES | Verb.ATOMIC),
        (".bss", 8, "right", Verb.READS | Verb.WRITES),
        (".data", 4, "left", Verb.READS),
    }
    assert sum(function == "left" for _, _, function, _ in accesses(drawn(counters()))) == 2


def test_functions_name_the_threads_that_come_to_them() -> None:
    found = drawn(counters())
    reached = {
        name: [found.threads[at] for at in found.thread_sets[number]]
        for name, number in zip(found.functions, found.reached, strict=True)
    }
    assert (reached["left"], reached["right"]) == (["left"], ["right"])


def test_hot_bytes_have_ranks_and_what_one_thread_does_once_has_none() -> None:
    (heat,) = [section.heat for section in drawn(counters()).sections if section.name == ".bss"]
    offsets = list(accumulate(heat.distances))
    assert offsets[:2] == [0, 8]
    assert heat.writes[:2] == [2, 2]
    assert 256 not in offsets


def test_what_two_kinds_of_threads_do_often_is_hot_however_much_else_is_done_more() -> None:
    b = Builder()
    threads(b, "left", "right", "busy")
    seldom = 12  # one round of a loop in eight
    b.function("left").store("both", loop=2, rarity=seldom).store("one", loop=2, rarity=seldom)
    b.function("right").load("both", loop=2, rarity=seldom)
    b.variable("both", 8)
    b.variable("one", 8, at=BSS + 256)
    busy = b.function("busy")
    for number in range(50):
        busy.store(f"busy{number}", loop=4)
        b.variable(f"busy{number}", 8, at=BSS + 4096 + 64 * number)
    (heat,) = [section.heat for section in drawn(b).sections if section.name == ".bss"]
    by_offset = dict(zip(accumulate(heat.distances), zip(heat.writes, heat.reads, strict=True), strict=True))
    assert by_offset[0] == (2, 2)
    assert 2 not in by_offset.get(256, ())


def test_a_lock_is_locked_and_not_written() -> None:
    b = Builder()
    threads(b, "worker")
    b.function("worker").call("pthread_mutex_lock", "big_lock", loop=1)
    b.variable("big_lock", 40)
    assert (".bss", 0, "worker", Verb.LOCKS) in accesses(drawn(b))


def test_a_lock_in_a_record_is_one_member_whatever_its_library_keeps_in_it() -> None:
    b = Builder()
    threads(b, "worker")
    number, word = b.base("int", 4), b.base("long", 8)
    inner = b.struct("__pthread_mutex_s", 40, ("__lock", 0, number), ("__list", 24, word))
    lock = b.typedef("pthread_mutex_t", inner)
    record = b.struct("table", 48, ("lock", 0, lock), ("first", 40, word))
    b.function("worker").rmw("one", loop=1)
    b.variable("one", 48, type=record)
    (told,) = drawn(b).types
    assert [(member.path, member.offset, member.size) for member in told.members] == [("lock", 0, 40), ("first", 40, 8)]
    assert told.members[0].type == "pthread_mutex_t"


def test_a_type_is_told_once_with_its_members() -> None:
    b = Builder()
    threads(b, "worker")
    number = b.base("int", 4)
    record = b.struct("pair", 8, ("a", 0, number), ("b", 4, number))
    b.function("worker").rmw("one", loop=1)
    b.variable("one", 8, type=record)
    b.variable("two", 8, type=record)
    found = drawn(b)
    (section,) = [section for section in found.sections if section.name == ".bss"]
    assert section.variables.types == [0, 0]
    (told,) = found.types
    assert told.members == [MapMember("a", 0, 4, "int", 0, 1), MapMember("b", 4, 4, "int", 0, 1)]
    assert told.told == 8


def test_behind_members_that_are_not_told_no_hole_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sharing.judge.memorymap.MAX_MEMBERS", 2)
    b = Builder()
    threads(b, "worker")
    number = b.base("int", 4)
    b.function("worker").rmw("one", loop=1)
    b.variable("one", 32, type=b.struct("three", 32, ("a", 0, number), ("b", 8, number), ("c", 24, number)))
    (told,) = drawn(b).types
    assert ([member.path for member in told.members], told.told) == (["a", "b"], 24)


def test_beyond_the_bound_the_heaviest_accesses_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    every = accesses(drawn(counters()))
    monkeypatch.setattr("sharing.judge.memorymap.MAX_ACCESSES", 2)
    found = drawn(counters())
    assert len(accesses(found)) == 2
    assert found.omitted == len(every) - 2
    assert {function for _, _, function, _ in accesses(found)} == {"left", "right"}


def test_the_map_of_an_image_without_accesses_is_empty_of_them() -> None:
    b = Builder()
    b.function("main")
    b.variable("alone", 8)
    found = drawn(b)
    assert [section.variables.names for section in found.sections if section.variables.names] == [["alone"]]
    assert accesses(found) == set()


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Where the line table says that instructions are; the current folder is ``tmp_path/project``."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    said = {"": ""}
    monkeypatch.setattr(pagemap, "own_places_of", lambda code: dict.fromkeys(code, said[""]))
    return said


def told(b: Builder) -> list[tuple[str, int, tuple[str, ...]]]:
    ran = passes(b)
    findings = judge(b.image(), JudgeOptions(64, 128), default_knowledge()).findings
    assert findings
    return sorted({(one.source, one.first, tuple(one.text)) for one in excerpts(ran, findings)})


def test_accesses_to_lines_of_findings_have_their_source(places: dict[str, str]) -> None:
    Path("a.c").write_text("".join(f"line {number}\n" for number in range(1, 9)))
    places[""] = "a.c:4:7"
    assert told(counters()) == [("a.c:4", 2, ("line 2", "line 3", "line 4", "line 5", "line 6"))]


@pytest.mark.parametrize("name", ["../secret.c", "{outside}/secret.c", "link.c", "absent.c", ".", "large.c"])
def test_no_text_is_read_from_outside_the_folder_or_from_what_is_no_source(
    name: str, places: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "secret.c").write_text("the secret\n")
    Path("link.c").symlink_to(tmp_path / "secret.c")
    with open("large.c", "wb") as large:
        large.truncate(MAX_FILE_BYTES + 1)
    places[""] = f"{name.format(outside=tmp_path)}:1"
    ((_, _, text),) = told(counters())
    assert text == ()
