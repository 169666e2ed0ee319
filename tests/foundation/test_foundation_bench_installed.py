"""The page of installed files: what it counts, and that a failed audit is not one that found nothing."""

from __future__ import annotations

from bench.installed.judge import Audited, Timed, read
from bench.installed.page import page


def audited(path: str, **more: object) -> Audited:
    made: dict[str, object] = {
        "status": 0,
        "severities": {},
        "named": (),
        "threads": "nothing in this image starts a thread",
    }
    return Audited(path, "tool", **{**made, **more})  # type: ignore[arg-type]


def test_no_file_is_listed_twice() -> None:
    paths = [path for group in read() for path in group.paths]
    assert len(paths) == len(set(paths)) > 0


def test_a_group_counts_files_by_what_is_said_of_them() -> None:
    quiet = audited("/usr/bin/quiet")
    loud = audited("/usr/bin/loud", severities={"high": 2, "low": 1}, named=("high hot-lock: lock / hits",))
    failed = audited("/usr/bin/failed", status=3, failed="longer than 900 s")
    text = page([quiet, loud, failed], [], "")
    assert "| tool | 3 | 1 | 0 | 1 | 1 | 1 |" in text
    assert "| failed | – | – | – | – | 3 | longer than 900 s |" in text
    assert "- loud: high hot-lock: lock / hits" in text
    assert "## Time" not in text


def test_of_many_threads_some_are_named() -> None:
    assert "| a, b, c, d and 2 more |" in page([audited("/usr/bin/busy", threads="a, b, c, d, e, f")], [], "")


def test_a_ratio_is_of_the_least_times() -> None:
    text = page([], [Timed("/usr/sbin/busy", (2.0, 5.0, 3.0), (4.0, 4.0, 8.0))], "the tree before")
    assert "this tree and the tree before\nin turns" in text
    assert "| busy | 3 | 2.00, 3.00 | 4.00, 4.00 | 0.50 | 0.75 |" in text
