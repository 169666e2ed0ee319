"""Profiles by variable: what confirms a new pair, what does not, and a real recording of a fast and a slow build."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from elfscan.debug.demangle import demangle
from elfscan.traits import read_traits
from linemate.explaining.run import ExplainRequest, explain
from sharing.explain.causes.base import Builds
from sharing.explain.compare import ExplainOptions, compare, document
from sharing.explain.dispersion import BLOCKS
from sharing.explain.variablesamples import (
    SAMPLE_DTYPE,
    VariableSamples,
    compare_variables,
    variable_samples,
    with_variable_samples,
)
from sharing.knowledge import default_knowledge
from sharing.model.attribution import Basis, Module, Reason, Region
from sharing.model.comparison import Cause, CauseKind, Comparison, SampledKind
from sharing.model.finding import Confidence
from sharing.model.samples import Event, Field
from tests.builders.recorded import CLOCK, One, Recorded, attribution
from tests.explain.conftest import BuildTableCache, read
from tests.sampled.conftest import needs, record

TOTAL = 16_000  # samples, a thousand in each block
Counts = Mapping[tuple[str, int], int]  # by variable and offset
LOCK, HEAD, COUNT = ("LOCK_open", 0), ("unused_tables", 0), ("table_count", 0)


@dataclass(frozen=True)
class Case:
    builds: Builds
    found: Comparison

    def seen(self, counts: Counts, *, new: bool, total: int = TOTAL, blocks: int = BLOCKS) -> VariableSamples:
        """Samples evenly over the first ``blocks`` stretches of a run."""
        image = (self.builds.new if new else self.builds.old).image
        names = [image.names[n] if n >= 0 else "" for n in image.variables["name"].tolist()]
        table = np.zeros(sum(counts.values()), SAMPLE_DTYPE)
        at = 0
        for (name, offset), many in counts.items():
            part = table[at : at + many]
            part["row"], part["offset"], part["block"] = names.index(name), offset, np.arange(many) % blocks
            at += many
        return VariableSamples("cpu-clock", table, np.full(BLOCKS, total // BLOCKS), True)

    def judged(self, old: Counts, new: Counts, *, total: int = TOTAL, blocks: int = BLOCKS) -> tuple[Cause, Comparison]:
        before = self.seen(old, new=False, total=total)
        found, _ = with_variable_samples(
            self.found, self.builds, before, self.seen(new, new=True, total=total, blocks=blocks)
        )
        return next(c for c in found.causes if c.kind is CauseKind.LAYOUT), found


def case_of(old: Path, new: Path) -> Case:
    traits = read_traits(str(old)), read_traits(str(new))
    builds = compare(read(old), read(new), default_knowledge(), ExplainOptions(demangle=demangle), *traits)
    return Case(builds, document(builds))


@pytest.fixture(scope="module")
def slow(table_cache: BuildTableCache) -> Case:
    return case_of(table_cache(), table_cache("-DEXTRA_SYSVAR"))


def test_a_rise_on_the_new_line_confirms_the_layout_and_the_sentence_says_it(slow: Case) -> None:
    cause, found = slow.judged({LOCK: 500, HEAD: 200}, {LOCK: 2000, HEAD: 900})
    assert cause.confidence is Confidence.DERIVED
    assert cause.strength > slow.found.causes[0].strength
    assert cause.summary.endswith(
        "the share of what is on that line in the samples of cpu-clock rose from 4.4% to 18.1%"
    )
    places = {(p.kind, p.name): p for p in found.places}
    line = places[SampledKind.LINE, "LOCK_open.m_mutex, unused_tables.first"]
    assert (line.old_samples, line.new_samples, line.line) == (700, 2900, cause.new_line_mates[0].line)
    assert places[SampledKind.MEMBER, "LOCK_open.m_mutex"].new_samples == 2000


def test_a_rise_elsewhere_is_listed_and_confirms_nothing(slow: Case) -> None:
    """The near miss: the pair has as many samples as before, and too few to tell."""
    cause, found = slow.judged({LOCK: 9, HEAD: 4, COUNT: 300}, {LOCK: 9, HEAD: 5, COUNT: 1500})
    assert (cause.confidence, cause.strength) == (Confidence.STATIC, slow.found.causes[0].strength)
    assert [p.name for p in found.places] == ["table_count"]


def test_no_rise_in_many_samples_weakens_the_layout(slow: Case) -> None:
    cause, _ = slow.judged({LOCK: 2000, HEAD: 1500}, {LOCK: 2010, HEAD: 1490})
    assert cause.strength == slow.found.causes[0].strength / 2
    assert "no rise by a quarter" in cause.evidence[0]


def test_a_small_rise_confirms_nothing_however_many_samples_show_it(slow: Case) -> None:
    """Two runs of one build differ by as much."""
    cause, found = slow.judged({LOCK: 40_000, HEAD: 10_000}, {LOCK: 44_000, HEAD: 11_000}, total=1_600_000)
    assert cause.strength <= slow.found.causes[0].strength
    assert found.places  # though they are more than chance


def test_samples_in_a_single_stretch_of_the_run_count_little(slow: Case) -> None:
    even, _ = slow.judged({LOCK: 60, HEAD: 60}, {LOCK: 140, HEAD: 140})
    burst, _ = slow.judged({LOCK: 60, HEAD: 60}, {LOCK: 140, HEAD: 140}, blocks=1)
    assert even.confidence is Confidence.DERIVED
    assert burst.confidence is Confidence.STATIC


def test_false_alarms_are_as_rare_as_stated(slow: Case) -> None:
    """Equal shares, 200 times: with 5 % of false alarms over all places, more than 20 have a chance below 0.5 %."""
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(200):
        sides = []
        for new in (False, True):
            seen = slow.seen({k: int(rng.poisson(150)) for k in (LOCK, HEAD, COUNT)}, new=new)
            seen.table["block"] = rng.integers(0, BLOCKS, len(seen.table))
            sides.append(seen)
        alarms += any(place.clear for place in compare_variables(slow.builds, sides[0], sides[1]))
    assert alarms <= 20


def test_padding_is_confirmed_by_the_fall_of_the_pair(table_cache: BuildTableCache) -> None:
    case = case_of(table_cache("-DEXTRA_SYSVAR"), table_cache("-DEXTRA_SYSVAR", "-DPADDED"))
    cause, _ = case.judged({LOCK: 2000, HEAD: 900}, {LOCK: 500, HEAD: 200})
    assert (cause.improves, cause.confidence) == (True, Confidence.DERIVED)
    assert cause.summary.endswith("fell from 18.1% to 4.4%")


def test_samples_are_counted_by_event_and_place(slow: Case) -> None:
    image = slow.builds.new.image
    row = next(i for i, n in enumerate(image.variables["name"].tolist()) if n >= 0 and image.names[n] == "LOCK_open")
    link = int(image.variables["address"][row])
    other = Event("page-faults", Field.TIME, 1, 0)
    ones = [One(0, i, at=8, region=Region.STATIC, link=link, event=i % 2) for i in range(64)]
    ones += [One(0, 100 + i, region=Region.HEAP) for i in range(32)]
    ones += [One(0, 200 + i, basis=Basis.NONE, reason=Reason.NO_ACCESS) for i in range(32)]
    made = attribution(Recorded(ones), events=(CLOCK, other), modules=(Module(image.path, target=True),))
    seen = variable_samples(made, 0, "cpu-clock", slow.builds.new)
    assert seen is not None
    assert (len(seen.table), int(seen.totals.sum())) == (32, 96)
    assert set(zip(seen.table["row"].tolist(), seen.table["offset"].tolist(), strict=True)) == {(row, 8)}
    assert seen.derived
    # Nothing of a library's storage, and nothing where hardly a sample has a place.
    library = attribution(Recorded(ones), events=(CLOCK, other), modules=(Module("/lib/other.so"),))
    elsewhere = variable_samples(library, 0, "cpu-clock", slow.builds.new)
    assert elsewhere is not None
    assert not len(elsewhere.table)
    lost = [One(0, i, basis=Basis.NONE, reason=Reason.OVERWRITTEN) for i in range(100)]
    assert variable_samples(attribution(Recorded(lost)), 0, "cpu-clock", slow.builds.new) is None


def test_a_recorded_slow_build_confirms_its_pair(table_cache: BuildTableCache, tmp_path: Path) -> None:
    """Both builds recorded here.  Skipped, with the reason, where perf cannot sample or the machine is busy."""
    needs("perf")
    old, new = table_cache(), table_cache("-DEXTRA_SYSVAR")
    profiles = [
        record(build, "seconds=1.5", "threads=2", into=tmp_path / f"{name}.data", least=8000)
        for name, build in (("old", old), ("new", new))
    ]
    found = explain(ExplainRequest(str(old), str(new), (str(profiles[0]),), (str(profiles[1]),)))
    cause = found.causes[0]
    assert cause.kind is CauseKind.LAYOUT
    assert found.places, "the line's samples changed"
    pair = {"LOCK_open.m_mutex", "unused_tables.first"}
    assert cause.confidence is Confidence.DERIVED
    assert any(name in cause.summary for name in (*pair, "what is on that line"))
    assert " rose from " in cause.summary
