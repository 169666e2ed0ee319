"""A real repository: the commit that moved a lock beside a list head is found, by all builds and by few."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import jsonschema
import pytest

from reports.history import HISTORY_EMITTERS
from reports.history.document import decode
from reports.options import RenderOptions
from sharing.model.history import Basis, History, RevisionState
from tests.history.conftest import BUILD, CULPRIT, Repository, RunHistory

ALL = "HEAD~11..HEAD"
PAIR = ("LOCK_open", "unused_tables")
MEMBERS = "LOCK_open.m_mutex / unused_tables.first"


@pytest.fixture(scope="module")
def whole(program: Repository, bench: str, tmp_path_factory: pytest.TempPathFactory) -> History:
    """All twelve builds, measured at three levels."""
    from linemate.history.options import HistoryOptions
    from linemate.history.run import history_of

    folder = tmp_path_factory.mktemp("whole")
    before = program.state()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LINEMATE_CACHE", str(folder / "cache"))
        patch.setattr("linemate.history.bench.background_share", lambda background_s, wall_s: 0.0)
        found = history_of(
            HistoryOptions(
                repo=str(program.path),
                revisions=ALL,
                build=BUILD,
                binary="server",
                bench=bench,
                levels=("1", "2", "4"),
                metric="ops_per_s",
                rounds=2,
                store=str(folder / "store.sqlite"),
            )
        )
    assert program.state() == before
    return found


def test_the_step_is_at_the_commit_that_adds_the_global(whole: History) -> None:
    (step,) = whole.steps
    # Ten of the twelve change comments: two builds are left, of which each was measured at several revisions.
    assert whole.basis is Basis.REVISIONS
    assert step.suspects == (CULPRIT,)
    assert whole.revisions[CULPRIT].subject == "Keep a buffer for names"
    assert whole.revisions[CULPRIT].author == "A"
    assert step.slower
    assert step.change.change == pytest.approx(-0.1, abs=0.002)
    assert -0.105 < step.change.low < step.change.high < -0.095
    assert all(c.clear for c in step.conditions)
    assert len(step.conditions) == 3
    assert whole.slowdown


def test_its_document_follows_the_schema(whole: History) -> None:
    schema = json.loads((Path(__file__).parents[2] / "docs/schema/linemate-history.schema.json").read_text())
    text = HISTORY_EMITTERS["json"].render(whole, RenderOptions())
    jsonschema.validate(json.loads(text), schema)
    assert decode(text) == whole


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
def test_every_format_names_the_commit_the_pair_and_the_cause(name: str, whole: History) -> None:
    text = " ".join(HISTORY_EMITTERS[name].render(whole, RenderOptions()).replace("\\", "").split())
    for words in ("slower since", "Keep a buffer for names", "LOCK_open.m_mutex", "+208 bytes"):
        assert words in text


def test_its_cause_is_the_layout_in_the_words_of_explain(whole: History) -> None:
    cause = whole.steps[0].causes[0]
    assert cause.startswith("layout (static): `buf` (added, +208 bytes, sys_vars.cc:")
    assert "`LOCK_open.m_mutex` and `unused_tables.first` now share line 0x" in cause


def test_the_change_of_layout_came_with_the_step(whole: History) -> None:
    (change,) = whole.layout_changes
    assert (change.between, change.step) == ((CULPRIT - 1, CULPRIT), 0)
    assert change.gained == (MEMBERS,)
    assert change.lost == ()


def test_the_pair_is_followed_through_all_builds(whole: History) -> None:
    pair = whole.pairs[0]
    assert f"{pair.first} / {pair.second}" == MEMBERS
    assert [place.line for place in pair.places] == [at >= CULPRIT for at in range(12)]
    assert all(place.wide for place in pair.places)
    before, after = pair.places[CULPRIT - 1], pair.places[CULPRIT]
    assert int(after.first, 16) - int(before.first, 16) == 0xE0
    assert (before.first_offset, after.first_offset, after.second_offset) == (32, 0, 48)


def test_without_a_benchmark_the_change_of_layout_is_told_alone(run_history: RunHistory, program: Repository) -> None:
    found = run_history(program, f"HEAD~{12 - CULPRIT}..HEAD~{10 - CULPRIT}", build=BUILD)
    assert (found.metric, found.steps, found.slowdown) == ("", (), False)
    (change,) = found.layout_changes
    assert (change.gained, change.step, change.improves) == ((MEMBERS,), -1, False)
    assert "`buf` (added, +208 bytes" in change.cause


STRIPPED = f"{BUILD.replace('-O2 -g', '$(cat flags)')} && strip --strip-all server"


@pytest.mark.parametrize("stripped", [True, False])
def test_what_stripped_builds_do_not_let_exclude_is_said_of_the_step(
    stripped: bool, run_history: RunHistory, program: Repository, tmp_path: Path
) -> None:
    """Of two levels without names hardly any function has a counterpart; with names all have."""
    made = Repository(tmp_path / "levels")
    shutil.copytree(program.path, made.path)
    made.commit("Fast", flags="-O2 -g")
    made.commit("Small", flags="-O1 -g")
    build = STRIPPED if stripped else STRIPPED.partition(" && strip")[0]
    bench = 'echo "qps $(if grep -q O1 flags; then echo 900; else echo 1000; fi)"'
    found = run_history(made, "HEAD~1..HEAD", build=build, bench=bench, metric="qps", rounds=4)
    (step,) = found.steps
    assert any(text.startswith("layout, ") for text in step.not_ruled_out) is stripped
    for name in ("text", "markdown", "html"):
        text = " ".join(HISTORY_EMITTERS[name].render(found, RenderOptions()).replace("\\", "").split())
        assert ("not ruled out: layout, " in text) is stripped


@pytest.mark.parametrize("by", ["pair", "speed"])
def test_bisection_needs_few_builds(by: str, run_history: RunHistory, program: Repository, bench: str) -> None:
    asked = {"pair": PAIR} if by == "pair" else {"bench": bench, "levels": ("2",), "metric": "ops_per_s", "rounds": 4}
    found = run_history(program, ALL, build=BUILD, bisect=True, **asked)
    assert found.bisection is not None
    assert found.bisection.ends_differ
    assert found.bisection.suspects == (CULPRIT,)
    assert found.bisection.builds <= math.ceil(math.log2(11)) + 2
    assert sum(r.state is RevisionState.BUILT for r in found.revisions) == found.bisection.builds
    assert found.slowdown is (by == "speed")
    assert found.layout_changes[0].gained == (MEMBERS,)
    said = found.bisection.words if by == "pair" else found.steps[0].causes[0]
    assert "`buf` (added, +208 bytes" in said
    # Asked again, nothing is built.
    again = run_history(program, ALL, build=BUILD, bisect=True, **asked)
    assert again.bisection is not None
    assert (again.bisection.builds, again.bisection.suspects) == (0, (CULPRIT,))


WRAPPED = """#include <pthread.h>
static DECLARED;
static volatile int polled;
static volatile long beside;
void *count(void *p) { for (long i = 0; i < 100000000; i++) USED = USED + 1; return p; }
void *poll(void *p) { long n = 0; while (n < 100000000) { n += 1 + polled; ROUND } return (void *)n; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, count, 0), pthread_create(&b, 0, poll, 0);
  pthread_join(a, 0), pthread_join(b, 0);
  return (int)(polled + beside);
}
"""


@pytest.mark.parametrize("word", ["counted", "counted.value"])
@pytest.mark.parametrize("busy", [True, False])
def test_a_pair_is_told_by_what_became_of_it(
    word: str, busy: bool, run_history: RunHistory, program: Repository, tmp_path: Path
) -> None:
    """Whatever else the commit changed, and under either name of what it wraps; of idle variables as well."""
    made = Repository(tmp_path / "wrapped")
    shutil.copytree(program.path, made.path)
    plain, wrapped = (
        ("volatile long counted", "counted"),
        ("struct { _Alignas(64) volatile long value; } counted", "counted.value"),
    )
    for declared, used in (wrapped, plain):
        text = WRAPPED.replace("DECLARED", declared).replace("USED", used)
        made.commit("Wrap" if declared == wrapped[0] else "Unwrap", **{
            "one.c": text.replace("ROUND", "n += polled & 1;" if used == "counted" else "")
        })  # fmt: skip
    second = "polled" if busy else "beside"
    found = run_history(
        made, "HEAD~1..HEAD", build="gcc -O1 -g -pthread one.c -o server", bisect=True, pair=(word, second)
    )
    assert found.bisection is not None
    assert found.bisection.ends_differ
    assert f"{word} and {second} came onto one line with " in found.bisection.words
    told = found.bisection.words.partition(". ")[2]
    assert "`counted`" in told
    assert "now share line" in told
    assert "functions changed" not in told


@pytest.mark.parametrize("by", ["pair", "speed"])
def test_ends_that_do_not_differ_are_said_to(by: str, run_history: RunHistory, copies: Repository) -> None:
    asked = {"pair": ("one", "two")} if by == "pair" else {"bench": "echo qps 1000", "metric": "qps"}
    found = run_history(copies, "HEAD~5..HEAD", bisect=True, **asked)
    assert found.bisection is not None
    assert not found.bisection.ends_differ
    assert found.bisection.words.startswith("ends do not differ")
    assert (found.bisection.suspects, found.steps, found.bisection.builds) == ((), (), 2)
