"""What profiles of both builds decide: which of several pairs it is, also where code says nothing of it."""

from __future__ import annotations

from sharing.explain.causes.base import Builds
from sharing.explain.compare import ExplainOptions, compare, document
from sharing.explain.seenpairs import decided
from sharing.judge.sampled.names import Names
from sharing.judge.sampled.verdict import Verdicts, judge_lines
from sharing.knowledge import default_knowledge
from sharing.model.attribution import Module, Region
from sharing.model.comparison import CauseKind
from sharing.model.finding import Confidence
from sharing.model.image import AccessKind, Image, SiteFlag
from sharing.sampled.lineuse.lines import profile_lines
from tests.builders.image import BSS, Builder, threads
from tests.builders.recorded import Recorded, attribution, ticks


def image(*, reached: int, counted: int) -> Image:
    """Two words that threads reach through pointers, and two that code counts in; each pair so many bytes apart."""
    b = Builder(path="program")
    threads(b, "left", "right")
    for name, word in (("left", "counted"), ("right", "summed")):
        b.function(name).access(AccessKind.RMW, word, 8, loop=1, flags=SiteFlag.ATOMIC)
    for name, address in (("mine", BSS), ("theirs", BSS + reached)):
        b.variable(name, 8, address)
    for name, address in (("counted", BSS + 1024), ("summed", BSS + 1024 + counted)):
        b.variable(name, 8, address)
    return b.image()


def seen(image: Image, *at: int, region: Region = Region.STATIC) -> Verdicts:
    """A profile in which each of two threads writes one of two words."""
    recorded = Recorded()
    for thread, place in enumerate(at):
        link = place if region is Region.STATIC else 0
        times = ticks(400, shift=90_000 * thread)
        recorded.loop(thread, times, at=0, function=f"f{thread}", line=place, region=region, link=link)
    run = profile_lines(attribution(recorded, modules=(Module("program", target=True),)), 64)
    return judge_lines(run, Names(image, default_knowledge()), 64)


def built(old: Image, new: Image) -> Builds:
    return compare(old, new, default_knowledge(), ExplainOptions(demangle=lambda names: names))


APART, MET = image(reached=256, counted=256), image(reached=8, counted=256)
BOTH = image(reached=8, counted=8)


def test_a_pair_that_only_samples_know_is_the_cause() -> None:
    builds = built(APART, MET)
    assert CauseKind.LAYOUT in {r.kind for r in document(builds).ruled_out}
    found = document(decided(builds, seen(APART, BSS, BSS + 256), seen(MET, BSS, BSS + 8)))
    first = found.causes[0]
    assert (first.kind, first.confidence, first.strength) == (CauseKind.LAYOUT, Confidence.DERIVED, 0.9)
    assert {first.new_line_mates[0].first, first.new_line_mates[0].second} == {"mine", "theirs"}
    assert "share line" in first.evidence[0]
    assert CauseKind.LAYOUT not in {r.kind for r in found.ruled_out}


def test_the_pair_that_was_seen_stands_before_one_that_code_holds_for_worse() -> None:
    builds = built(APART, BOTH)
    assert document(builds).causes[0].new_line_mates[0].first == "counted"
    first = document(decided(builds, seen(APART, BSS, BSS + 256), seen(BOTH, BSS, BSS + 8))).causes[0]
    assert {m.severity for m in first.new_line_mates} == {"high", ""}
    assert first.new_line_mates[0].first in ("mine", "theirs")


def test_a_pair_that_shares_its_line_in_both_builds_is_none_that_met() -> None:
    """The near miss: threads disturb each other there as ever."""
    builds = built(MET, BOTH)
    first = document(decided(builds, seen(MET, BSS, BSS + 8), seen(BOTH, BSS, BSS + 8))).causes[0]
    assert first.new_line_mates[0].first == "counted"
    assert first.confidence is Confidence.STATIC


def test_a_pair_that_parted_is_an_improvement() -> None:
    builds = built(MET, APART)
    first = document(decided(builds, seen(MET, BSS, BSS + 8), seen(APART, BSS, BSS + 256))).causes[0]
    assert (first.kind, first.improves, first.confidence) == (CauseKind.LAYOUT, True, Confidence.DERIVED)


def test_a_load_that_disturbs_nobody_leaves_the_pairs_as_code_has_them() -> None:
    builds = built(APART, BOTH)
    same = decided(builds, seen(APART, BSS, BSS + 256), seen(BOTH, BSS + 4096, BSS + 8192))
    assert (same.gained, same.lost) == (builds.gained, builds.lost)
