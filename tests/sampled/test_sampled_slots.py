"""Slots of threads that are members, or have members: the element is what is named and padded, and nothing twice."""

from __future__ import annotations

import subprocess

import pytest

from elfscan.image import read_images
from sharing.judge.remedy import Style
from sharing.judge.sampled.findings import findings_of
from sharing.judge.sampled.names import Names
from sharing.judge.sampled.verdict import judge_lines
from sharing.judge.static import Judgement, JudgeOptions, judge
from sharing.knowledge import default_knowledge
from sharing.model.attribution import Module, Region
from sharing.model.finding import Finding
from sharing.model.image import ImageKind
from sharing.model.profile import Role
from sharing.sampled.lineuse.lines import profile_lines
from tests.builders.recorded import LINE, Recorded, attribution, ticks
from tests.sampled.test_sampled_verdicts import judged, pair

SOURCE = r"""
#include <pthread.h>
struct stats { long opened; long hits[4]; long closed; };
struct per { long hits, misses; };
_Alignas(64) struct stats server;
_Alignas(64) struct per pers[4];
static void *in_record(void *p) {
  for (long i = 0; i < 1000; i++) ((volatile long *)server.hits)[(long)p] += i;
  return 0;
}
static void *of_records(void *p) {
  volatile struct per *q = &pers[(long)p];
  for (long i = 0; i < 1000; i++) { q->hits += i; if (i & 1) q->misses++; }
  return 0;
}
int main(void) {
  pthread_t t[4];
  for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, in_record, (void *)i);
  for (long i = 0; i < 2; i++) pthread_create(&t[i + 2], 0, of_records, (void *)i);
  for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
  return pers[0].hits + pers[1].hits > 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Judgement:
    where = tmp_path_factory.mktemp("slots")
    (where / "slots.c").write_text(SOURCE)
    subprocess.run(["gcc", "-O2", "-g", "-pthread", "slots.c", "-o", "slots"], check=True, cwd=where)
    (image,) = read_images(str(where / "slots"))
    return judge(image, JudgeOptions(64, 128, edits=False), default_knowledge())


def found(program: Judgement, variable: str, *updates: tuple[int, int]) -> Finding:
    """The one finding where threads update bytes of a variable at one time: (thread, offset) of each."""
    image = program.image
    names = [image.names[n] if n >= 0 else "" for n in image.variables["name"].tolist()]
    base = int(image.variables["address"][names.index(variable)])
    recorded = Recorded()
    for number, (thread, at) in enumerate(updates):
        times = ticks(300, shift=thread * 90_000 + number * 1_000)
        recorded.loop(thread, times, at=at, function="work", region=Region.STATIC, link=base)
    run = profile_lines(attribution(recorded, modules=(Module("/bin/x", target=True),)), 64)
    verdicts = judge_lines(run, Names(image, default_knowledge(), program.actors), 64)
    (finding,) = findings_of(verdicts, run.totals, Style(64, ImageKind.PIE), image)
    assert finding.rule == "sampled-thread-slots"
    return finding


def test_elements_of_an_array_in_a_record_are_named_and_padded(program: Judgement) -> None:
    finding = found(program, "server", (0, 8), (1, 16))
    assert [p.full_name for p in finding.participants] == ["server.hits[0]", "server.hits[1]"]
    assert finding.message.startswith("server.hits: 2 elements of 8 bytes")
    (remedy,) = finding.remedies
    assert remedy.text.startswith("round the element type of hits of server up to 64 bytes")


def test_elements_that_are_records_are_padded_and_not_their_members(program: Judgement) -> None:
    finding = found(program, "pers", (0, 0), (0, 8), (1, 16), (1, 24))
    assert finding.message.startswith("pers: 2 elements of 16 bytes")
    (remedy,) = finding.remedies
    assert remedy.text.startswith("round the element type of pers up to 64 bytes")


def test_an_element_that_was_seen_written_is_not_called_never_written(program: Judgement) -> None:
    """Code names the second element where it is read, and writes it by an index alone."""
    finding = found(program, "pers", (0, 0), (1, 16))
    assert [(p.full_name, p.role) for p in finding.participants] == [
        ("pers[0].hits", Role.WRITTEN.value),
        ("pers[1].hits", Role.WRITTEN.value),
    ]


def test_what_is_not_sure_to_meet_is_not_said_to_meet() -> None:
    (sure,), _ = judged(pair())
    assert "one line, at the same time" in sure.message
    (unsure,), _ = judged(pair(count=7))
    assert "one line, possibly at the same time" in unsure.message


def test_no_finding_says_both_that_threads_meet_and_that_they_take_turns() -> None:
    """A third thread comes after the two that meet: its turns are no evidence of the finding about these."""
    recorded = pair()
    recorded.loop(2, ticks(400, start=200), at=16, line=LINE, function="later")
    for finding in judged(recorded)[0]:
        text = finding.message + " ".join(e.text for e in finding.evidence)
        assert "at the same time" in text
        assert "one after the other" not in text
        assert "in turns" not in text
