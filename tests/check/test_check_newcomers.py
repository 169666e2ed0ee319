"""What joins a line that was reported before is new; what was there all the time, under whichever name, is not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from linemate.checking.newcomers import with_newcomers
from sharing.model.finding import ALSO, Finding, LinePicture, Severity, Slice
from tests.builders.report import LOCK_BESIDE_LIST, REPORT
from tests.check.repositories import Project, need_analyzer

Run = Callable[..., Any]

# The ticker writes `beats` all the time beside the flag that workers read for each piece of a job.  Compilers put what
# is declared last first.
SERVER_C = """\
#include <pthread.h>
#include <unistd.h>
//variables
static _Atomic int stop;
static _Atomic long beats;
static char name[64] __attribute__((aligned(64)));
static void *worker(void *arg) {
  char job;
  while (read(0, &job, 1) > 0) {
    for (int at = 0; at < job && !stop; at++) {
      //piece
    }
    //job
  }
  return arg;
}
static void *ticker(void *arg) {
  while (!stop)
    for (int at = 0; at < 64; at++)
      beats++;
  return arg;
}
int main(int argc, char **argv) {
  name[0] = argv[0][0];
  pthread_t threads[3];
  pthread_create(&threads[0], 0, ticker, 0);
  pthread_create(&threads[1], 0, worker, 0);
  pthread_create(&threads[2], 0, worker, 0);
  pthread_join(threads[1], 0);
  pthread_join(threads[2], 0);
  stop = 1;
  pthread_join(threads[0], 0);
}
"""


def with_lock(name: str = "result_lock", attribute: str = "") -> str:
    text = SERVER_C.replace("//variables", f"static long best;\nstatic pthread_mutex_t {name}{attribute};")
    hold = f"pthread_mutex_lock(&{name}); if (job > best) best = job; pthread_mutex_unlock(&{name});"
    return text.replace("//job", hold)


COUNTED = SERVER_C.replace("//variables", "static _Atomic long pieces;").replace("//piece", "pieces++;")


@pytest.fixture(autouse=True)
def analyzer() -> None:
    need_analyzer()


def checked(project: Project, run: Run, before: str, now: str, *more: str) -> Any:
    base = project.commit({"server.c": before})
    project.database("server.c")
    project.write({"server.c": now})
    return run("check", "--base", base, "--min-severity", "low", "--format", "json", *more)


def new(project: Project, run: Run, before: str, now: str) -> list[set[str]]:
    document = json.loads(checked(project, run, before, now).out)
    return [{who["name"] for who in finding["participants"]} for finding in document["findings"]]


def test_a_lock_that_joins_a_reported_line_is_new_once(project: Project, run: Run) -> None:
    result = checked(project, run, SERVER_C, with_lock(), "--fail-on", "medium")
    (finding,) = json.loads(result.out)["findings"]
    assert finding["participants"][0]["name"] == "result_lock"
    assert finding["message"].startswith("result_lock joins the line of beats and stop, which was reported before: ")
    assert "taken by worker" in finding["message"]
    assert (finding["severity"], result.code) == ("high", 1)
    assert json.loads(result.out)["known"] == 1


def test_so_is_a_counter_and_it_is_judged_by_itself(project: Project, run: Run) -> None:
    result = checked(project, run, SERVER_C, COUNTED)
    (finding,) = json.loads(result.out)["findings"]
    assert "pieces" in {who["name"] for who in finding["participants"][:2]}
    assert (finding["severity"], result.code) == ("high", 1)


def test_a_lock_on_lines_of_its_own_joins_none(project: Project, run: Run) -> None:
    own = with_lock(attribute=" __attribute__((aligned(64)))")
    assert not [pair for pair in new(project, run, SERVER_C, own) if {"beats", "stop"} & pair]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        pytest.param(with_lock(), with_lock("best_lock"), id="renamed"),
        pytest.param(with_lock(), with_lock().replace("threads[3]", "threads[4]"), id="there before and not named"),
        pytest.param(COUNTED, "/* Counts\n   pieces. */\n" + COUNTED, id="comment"),
        pytest.param(
            SERVER_C,
            SERVER_C.replace("static char name", "static int shown;\nstatic char name").replace(
                "  name[0]", "  shown++, name[0]"
            ),
            id="shifted",
        ),
    ],
)
def test_what_was_on_the_line_before_is_not(project: Project, run: Run, before: str, now: str) -> None:
    assert new(project, run, before, now) == []


def edited(text: str, finding: Any) -> str:
    edits = {(one["begin"], one["end"], one["replacement"]) for each in finding["remedies"] for one in each["edits"]}
    for begin, end, replacement in sorted(edits, reverse=True):
        text = text[:begin] + replacement + text[end:]
    return text


def test_the_newcomer_moves_and_what_it_would_have_met_too(project: Project, run: Run) -> None:
    """Not the old neighbour alone: the line would still be shared by what was known there, and the newcomer on it."""
    (finding,) = json.loads(checked(project, run, SERVER_C, COUNTED).out)["findings"]
    assert finding["remedies"][0]["moves"] == "pieces"
    now = edited(COUNTED, finding)
    assert " pieces;" not in now.split("static void *worker")[0].replace("long value; } pieces;", "")
    assert new(project, run, SERVER_C, now) == []
    project.write({"server.c": now})
    left = json.loads(run("check", "--min-severity", "note", "--format", "json", "server.c").out)["findings"]
    assert not [one for one in left if {"pieces", "pieces.value"} & {who["name"] for who in one["participants"][1:]}]


def test_fix_writes_what_the_review_proposed(project: Project, run: Run) -> None:
    (finding,) = json.loads(checked(project, run, SERVER_C, COUNTED).out)["findings"]
    result = run("fix", finding["id"])
    assert "pieces: " in result.err.splitlines()[0]


def test_of_a_pair_that_was_there_the_customary_one_moves(project: Project, run: Run) -> None:
    """The near miss: what they do there changed, and neither came."""
    calm = SERVER_C.replace("      beats++;", "      if (at > 60) beats++;")
    for text in (SERVER_C, calm):
        project.commit({"server.c": text})
    project.database("server.c")
    result = json.loads(run("check", "--min-severity", "low", "--format", "json").out)
    moved = {each["moves"] for one in result["findings"] for each in one["remedies"]}
    assert moved <= {"beats", "stop", "name"}


def test_what_else_is_new_on_the_line_is_said_and_nothing_else(project: Project, run: Run) -> None:
    """The lock meets the flag, and so does the counter; that the ticker's beats meet the flag was there before."""
    both = with_lock().replace("static long best;", "static long best;\nstatic _Atomic long pieces;")
    result = json.loads(checked(project, run, SERVER_C, both.replace("//piece", "pieces++;")).out)
    (finding,) = result["findings"]
    also = [each["text"] for each in finding["evidence"] if each["text"].startswith(ALSO)]
    assert also
    assert all({"pieces", "result_lock"} & set(re.findall(r"(\w+) \(", text)) for text in also)
    assert not [text for text in also if "beats (" in text and "stop (" in text]
    assert result["known"] == 1


def line(*names: str, on: tuple[str, ...] = ()) -> Finding:
    """A finding of a pair, and who else has bytes of the line."""
    first, second = (
        msgspec.structs.replace(LOCK_BESIDE_LIST.participants[1], name=name, identity=name) for name in names
    )
    slices = tuple(Slice(name, at * 8, at * 8 + 8, True, "a") for at, name in enumerate((*names, *on)))
    picture = (LinePicture("0x40", 64, slices),)
    return msgspec.structs.replace(LOCK_BESIDE_LIST, participants=(first, second), picture=picture)


@pytest.mark.parametrize(
    ("on", "said"), [(("stop",), "joins the line of beats and stop, "), ((), "joins the line of beats, ")]
)
def test_only_what_is_on_the_line_now_is_said_to_be_joined(on: tuple[str, ...], said: str) -> None:
    before = msgspec.structs.replace(REPORT, findings=(line("beats", "stop"),))
    (told,) = with_newcomers([line("pieces", "beats", on=on)], before, Severity.LOW)
    assert told.message.startswith(f"pieces {said}which was reported before: ")
