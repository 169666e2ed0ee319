"""``linemate check`` on a threaded program in a git repository, with the real analyzer: what is new, and only that.

The base has one finding that everybody knows: two locks of different threads in ``pair.c``.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.check.repositories import Project, need_analyzer

Run = Callable[..., Any]

QUEUE_H = """\
#pragma once
#include <pthread.h>
#include <stdatomic.h>
struct __attribute__((aligned(64))) queue {
  pthread_mutex_t lock;
  char pad[128 - sizeof(pthread_mutex_t)];
  atomic_bool stop;
};
extern struct queue queue;
void *worker(void *arg);
void *poller(void *arg);
"""
QUEUE_C = """\
#include "queue.h"
struct queue queue = {PTHREAD_MUTEX_INITIALIZER};
void *worker(void *arg) {
  for (int i = 0; i < 1000000; i++) {
    pthread_mutex_lock(&queue.lock);
    pthread_mutex_unlock(&queue.lock);
  }
  return arg;
}
void *poller(void *arg) {
  while (!atomic_load_explicit(&queue.stop, memory_order_relaxed))
    ;
  return arg;
}
"""
PAIR_C = """\
#include "pair.h"
static struct __attribute__((aligned(64))) pair {
  pthread_spinlock_t in;
  pthread_spinlock_t out;
} pair;
void *receive(void *arg) {
  for (int i = 0; i < 1000000; i++) {
    pthread_spin_lock(&pair.in);
    pthread_spin_unlock(&pair.in);
  }
  return arg;
}
void *deliver(void *arg) {
  for (int i = 0; i < 1000000; i++) {
    pthread_spin_lock(&pair.out);
    pthread_spin_unlock(&pair.out);
  }
  return arg;
}
"""
WRAPPED_C = PAIR_C.replace("t in;", "t in_lock;").replace("pair.in)", "pair.ends.in_lock)")
WRAPPED_C = WRAPPED_C.replace("pthread_spinlock_t in_lock;", "struct ends { pthread_spinlock_t in_lock; } ends;")
MAIN_C = """\
#include "pair.h"
#include "queue.h"
int main(void) {
  pthread_t threads[16];
  for (int i = 0; i < 4; i++) {
    pthread_create(&threads[i], 0, worker, 0);
    pthread_create(&threads[4 + i], 0, poller, 0);
    pthread_create(&threads[8 + i], 0, receive, 0);
    pthread_create(&threads[12 + i], 0, deliver, 0);
  }
  for (int i = 0; i < 16; i++)
    pthread_join(threads[i], 0);
  return 0;
}
"""
FILES = {
    "queue.h": QUEUE_H,
    "queue.c": QUEUE_C,
    "pair.h": "#pragma once\n#include <pthread.h>\nvoid *receive(void *arg);\nvoid *deliver(void *arg);\n",
    "pair.c": PAIR_C,
    "main.c": MAIN_C,
    "other.c": "int other(int x) { return x + 1; }\n",
}
UNITS = ("main.c", "other.c", "pair.c", "queue.c")
WITHOUT_PAD = QUEUE_H.replace("  char pad[128 - sizeof(pthread_mutex_t)];\n", "")


@pytest.fixture(autouse=True)
def analyzer() -> None:
    need_analyzer()


@pytest.fixture
def base(project: Project) -> str:
    """The commit to compare with; a compile database of all units is in ``build``."""
    commit = project.commit(FILES)
    project.database(*UNITS)
    return commit


def report(result: Any) -> Any:
    return json.loads(result.out)


def found(result: Any) -> list[tuple[str, list[str]]]:
    """(rule, participants) of each finding."""
    return [
        (finding["rule"], sorted(f"{who['name']}.{who['member']}".rstrip(".") for who in finding["participants"]))
        for finding in report(result)["findings"]
    ]


def parsed_in_base(result: Any) -> int:
    return int(report(result)["coverage"]["counts"]["base_units_parsed"])


def test_without_a_base_everything_is_reported(run: Run, project: Project, base: str) -> None:
    result = run("check", "--format", "json")
    assert (result.code, found(result)) == (1, [("two-locks-one-line", ["pair.in", "pair.out"])])
    assert report(result)["baseline"] == ""


def test_a_clean_tree_has_nothing_new(run: Run, project: Project, base: str) -> None:
    result = run("check", "--base", "HEAD", "--format", "json")
    assert (result.code, found(result), report(result)["known"]) == (0, [], 1)
    assert report(result)["baseline"] == f"HEAD at {base[:12]}"
    assert parsed_in_base(result) == 0


def test_a_change_that_brings_two_together_fails_with_that_alone(run: Run, project: Project, base: str) -> None:
    project.commit({"queue.h": WITHOUT_PAD})
    result = run("check", "--base", base, "--format", "json")
    assert (result.code, found(result)) == (1, [("hot-lock-shares-line", ["queue.lock", "queue.stop"])])
    assert report(result)["known"] == 1


def test_only_units_that_read_the_changed_header_are_parsed_again(run: Run, project: Project, base: str) -> None:
    project.write({"queue.h": WITHOUT_PAD})
    assert parsed_in_base(run("check", "--base", base, "--format", "json")) == 2
    project.write({"queue.h": QUEUE_H, "other.c": "int other(int x) { return x + 2; }\n"})
    assert parsed_in_base(run("check", "--base", base, "--format", "json")) == 1


@pytest.mark.parametrize(
    "files",
    [
        {"README": "words\n"},
        {"other.c": "int other(int x) { return x - 1; }\n"},
        {"pair.c": "/* moved\n down\n */\n" + PAIR_C},
        {"queue.h": QUEUE_H.replace("128", "256")},
        {"pair.c": PAIR_C.replace("1000000", "2000000")},
        {"pair.c": PAIR_C.replace("t in;", "t entry;").replace("pair.in", "pair.entry")},
        {"pair.c": WRAPPED_C},
    ],
    ids=["not a source", "another unit", "lines", "more padding", "a known unit", "a renamed member", "a wrapped lock"],
)
def test_a_harmless_change_passes(run: Run, project: Project, base: str, files: dict[str, str]) -> None:
    project.commit(files)
    result = run("check", "--base", base, "--format", "json")
    assert (result.code, found(result), report(result)["known"]) == (0, [], 1)


def test_a_fix_is_nothing_new(run: Run, project: Project, base: str) -> None:
    project.commit({"pair.c": PAIR_C.replace("  pthread_spinlock_t out", "  char pad[128];\n  pthread_spinlock_t out")})
    result = run("check", "--base", base, "--format", "json")
    assert (result.code, found(result), report(result)["known"]) == (0, [], 0)


def test_another_lock_in_the_place_of_a_renamed_one_is_new(run: Run, project: Project, base: str) -> None:
    """The name is new, and so is where it lies."""
    moved = PAIR_C.replace("  pthread_spinlock_t in;\n", "").replace(
        "t out;", "t out;\n  int n[2];\n  pthread_spinlock_t x;"
    )
    project.commit({"pair.c": moved.replace("pair.in", "pair.x")})
    result = run("check", "--base", base, "--format", "json")
    assert found(result) == [("two-locks-one-line", ["pair.out", "pair.x"])]


def test_a_renamed_unit_keeps_what_was_known(run: Run, project: Project, base: str) -> None:
    project.git("mv", "pair.c", "couple.c")
    project.commit()
    project.database("main.c", "other.c", "couple.c", "queue.c")
    result = run("check", "--base", base, "--format", "json")
    assert (result.code, found(result), report(result)["known"]) == (0, [], 1)


def test_a_deleted_unit_takes_what_it_did_with_it(run: Run, project: Project, base: str) -> None:
    """The pair now lies in another file, and the threads that use it are as they were."""
    project.git("rm", "-q", "other.c")
    project.commit({"queue.c": QUEUE_C + "int other(int x) { return x + 1; }\n"})
    project.database("main.c", "pair.c", "queue.c")
    result = run("check", "--base", base, "--format", "json")
    assert (result.code, found(result), report(result)["known"]) == (0, [], 1)


def test_an_added_unit_with_a_pair_is_new(run: Run, project: Project, base: str) -> None:
    twin = PAIR_C.replace("pair {", "twin {").replace("} pair", "} twin").replace("&pair", "&twin")
    twin = twin.replace("receive", "receive2").replace("deliver", "deliver2")
    starts = MAIN_C.replace("worker, 0", "receive2, 0").replace("poller, 0", "deliver2, 0")
    starts = starts.replace("int main", "void *receive2(void *);\nvoid *deliver2(void *);\nint main")
    project.commit({"twin.c": twin, "main.c": starts})
    project.database(*UNITS, "twin.c")
    result = run("check", "--base", base, "--format", "json")
    assert (result.code, found(result)) == (1, [("two-locks-one-line", ["twin.in", "twin.out"])])


def test_what_was_mild_and_is_severe_is_new(run: Run, project: Project, base: str) -> None:
    """The locks were there, but one thread alone took both."""
    alone = MAIN_C.replace("    pthread_create(&threads[8 + i], 0, receive, 0);\n", "")
    alone = alone.replace("    pthread_create(&threads[12 + i], 0, deliver, 0);\n", "")
    before = project.commit({"main.c": alone})
    project.commit({"main.c": MAIN_C})
    result = run("check", "--base", before, "--format", "json")
    assert (result.code, found(result)) == (1, [("two-locks-one-line", ["pair.in", "pair.out"])])


def test_uncommitted_changes_count(run: Run, project: Project, base: str) -> None:
    project.write({"queue.h": WITHOUT_PAD})
    before = project.state()
    assert run("check", "--base", "HEAD").code == 1
    assert project.state() == before


def test_a_second_run_says_the_same(run: Run, project: Project, base: str) -> None:
    project.write({"queue.h": WITHOUT_PAD})
    first = run("check", "--base", base, "--format", "json")
    assert run("check", "--base", base, "--format", "json").out == first.out
    assert run("check", "--base", base, "--format", "json", "--no-cache").out == first.out


def test_sources_with_flags_can_be_compared_too(run: Run, project: Project, base: str) -> None:
    shutil.rmtree(project.top / "build")
    project.write({"queue.h": WITHOUT_PAD})
    result = run("check", "--base", base, "--format", "json", *UNITS, "--", "-O2")
    assert (result.code, found(result)) == (1, [("hot-lock-shares-line", ["queue.lock", "queue.stop"])])


def test_a_generated_header_of_today_serves_the_base(run: Run, project: Project) -> None:
    generated = {"queue.c": '#include "config.h"\n' + QUEUE_C}
    commit = project.commit({**FILES, **generated})
    project.database(*UNITS, flags=("-O2", "-I."))
    project.write({"build/config.h": "#define CONFIG 1\n", "queue.h": WITHOUT_PAD})
    result = run("check", "--base", commit, "--format", "json")
    assert (result.code, found(result)) == (1, [("hot-lock-shares-line", ["queue.lock", "queue.stop"])])
    assert not [note for note in report(result)["coverage"]["notes"] if note.startswith("base:")]


def test_a_baseline_file_serves_another_clone(
    run: Run, project: Project, base: str, tmp_path: Path, monkeypatch: Any
) -> None:
    assert run("check", "--write-baseline", "accepted.json").code == 0
    clone = Project(tmp_path / "clone")
    clone.top.mkdir()
    clone.git("clone", "--quiet", str(project.top), ".")
    clone.database(*UNITS)
    monkeypatch.chdir(clone.top)
    accepted = str(project.top / "accepted.json")
    result = run("check", "--baseline", accepted, "--format", "json")
    assert (result.code, found(result), report(result)["known"]) == (0, [], 1)
    clone.write({"queue.h": WITHOUT_PAD})
    result = run("check", "--baseline", accepted, "--format", "json")
    assert (result.code, found(result)) == (1, [("hot-lock-shares-line", ["queue.lock", "queue.stop"])])


@pytest.mark.parametrize(
    ("symbol", "code", "suppressed"), [("pair*", 0, 1), ("queue*", 1, 0)], ids=["accepted", "near miss"]
)
def test_the_project_accepts_findings(
    run: Run, project: Project, base: str, symbol: str, code: int, suppressed: int
) -> None:
    project.write({"linemate.toml": f'[[suppress]]\nsymbol = "{symbol}"\nreason = "known"\n'})
    result = run("check", "--format", "json")
    assert (result.code, report(result)["suppressed"]) == (code, suppressed)
    assert bool(found(result)) == bool(code)


def test_a_suppression_that_is_taken_away_shows_what_it_hid(run: Run, project: Project, base: str) -> None:
    """What the project accepted was there before: lifting the suppression is not what put the pair together."""
    project.write({"linemate.toml": '[[suppress]]\nsymbol = "queue*"\nreason = "x"\n'})
    commit = project.commit({"queue.h": WITHOUT_PAD})
    (project.top / "linemate.toml").unlink()
    result = run("check", "--base", commit, "--format", "json")
    assert (result.code, report(result)["known"]) == (0, 2)


def test_broken_units_are_named_and_the_rest_is_reported(run: Run, project: Project, base: str) -> None:
    project.write({"other.c": '#include "gone.h"\nint other(void) { return GONE; }\n'})
    project.database(*UNITS, "missing.c")
    result = run("check", "--format", "json")
    notes = "\n".join(report(result)["coverage"]["notes"])
    assert (result.code, report(result)["incomplete"]) == (3, True)
    assert "other.c" in notes
    assert "gone.h" in notes
    assert "missing.c" in notes
    assert found(result) == [("two-locks-one-line", ["pair.in", "pair.out"])]


def test_a_finding_says_where_in_the_source(run: Run, project: Project, base: str) -> None:
    (finding,) = report(run("check", "--format", "json"))["findings"]
    lines = {who["member"]: who["source"] for who in finding["participants"]}
    assert all(source.startswith(f"{project.top}/pair.c:") for source in lines.values())
    functions = {access["function"]: access for access in finding["related"]}
    assert {"receive", "deliver"} <= functions.keys()
    at = PAIR_C.splitlines().index("    pthread_spin_lock(&pair.in);") + 1
    assert functions["receive"]["source"].startswith(f"{project.top}/pair.c:{at}:")
    assert functions["receive"]["verb"] == "locks"
    assert finding["line"]["place"]


def test_sarif_of_a_check_is_valid_and_points_into_the_repository(run: Run, project: Project, base: str) -> None:
    schema = json.loads((Path(__file__).parents[1] / "reports/data/sarif-schema-2.1.0.json").read_text())
    document = json.loads(run("check", "--format", "sarif").out)
    jsonschema.Draft7Validator(schema).validate(document)
    (result,) = document["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "pair.c", "uriBaseId": "SRCROOT"}
    assert place["region"]["startLine"] > 1
    assert len(result["relatedLocations"]) >= 3
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "pair.c", "uriBaseId": "SRCROOT"}
    assert change["replacements"]


def test_the_edits_of_a_remedy_make_the_finding_go_away(run: Run, project: Project, base: str) -> None:
    (finding,) = report(run("check", "--format", "json"))["findings"]
    edits = finding["remedies"][0]["edits"]
    text = (project.top / "pair.c").read_bytes()
    for edit in sorted(edits, key=lambda edit: edit["begin"], reverse=True):
        assert edit["file"] == str(project.top / "pair.c")
        text = text[: edit["begin"]] + edit["replacement"].encode() + text[edit["end"] :]
    (project.top / "pair.c").write_bytes(text)
    result = run("check", "--base", base, "--format", "json")
    assert (result.code, found(result), report(result)["known"]) == (0, [], 0)


def test_the_comment_is_short_and_says_the_verdict_first(run: Run, project: Project, base: str) -> None:
    project.write({"queue.h": WITHOUT_PAD})
    text = run("check", "--base", base, "--format", "markdown").out
    first = text.splitlines()[0]
    assert first.startswith(f"### linemate: 1 new finding: 1 high; 1 finding was there before ({base[:12]})")
    assert "```text\n" in text
    assert len(text) < 6000


def test_a_database_without_units_is_no_clean_bill(tmp_path: Path, run: Run) -> None:
    (tmp_path / "compile_commands.json").write_text("[]")
    result = run("check", "-p", str(tmp_path))
    assert (result.code, result.out) == (2, "")
    assert result.err == f"linemate: error: {tmp_path}/compile_commands.json: names no unit\n"


def test_a_revision_that_is_none_is_one_line(run: Run, project: Project, base: str) -> None:
    result = run("check", "--base", "nope")
    assert (result.code, result.out) == (2, "")
    assert result.err == "linemate: error: --base: git knows no commit 'nope' (a shallow clone may lack it)\n"


def test_outside_of_git_a_base_is_refused(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.c").write_text("int a;\n")
    monkeypatch.chdir(plain)
    result = run("check", "--base", "HEAD", "a.c", "--", "-O2")
    assert (result.code, result.out) == (2, "")
    assert "are in a git repository" in result.err


SMALL_ALIGNMENT = """\
#include <stdatomic.h>
#define CACHE_LINE_SIZE 64
struct stats {
  _Alignas(CACHE_LINE_SIZE) atomic_long received;
  _Alignas(CACHE_LINE_SIZE) atomic_long sent;
};
struct stats stats;
int main(void) { stats.received++; stats.sent++; return 0; }
"""


@pytest.mark.parametrize(("line_size", "rules"), [("128", ["alignment-below-line"]), ("64", [])])
def test_declarations_of_a_program_without_threads_are_judged_by_the_asked_line_size(
    run: Run, project: Project, line_size: str, rules: list[str]
) -> None:
    """No image is laid out, so none says what a line is."""
    project.commit({"stats.c": SMALL_ALIGNMENT})
    project.database("stats.c")
    result = run("check", "--line-size", line_size, "--format", "json", "--min-severity", "note")
    assert [rule for rule, _ in found(result)] == rules
