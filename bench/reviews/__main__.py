"""``python -m bench.reviews PROJECT --clones FOLDER``: the last commits of a project, each against the one before.

A commit that changes no layout and no use of shared data should bring nothing new at low and above; what is new is
printed, and the time that each took.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.clones import clone_of, git
from bench.measure import Unavailable
from bench.places import REPOSITORY, linemate
from bench.reviews.kept import PAGE, Reviewed, keep, write_table
from bench.reviews.projects import PROJECTS, Project


def main() -> int:
    """Check the commits in the order of the history and print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m bench.reviews", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("project", choices=sorted(PROJECTS))
    parser.add_argument("--clones", type=Path, required=True, help="folder of clones, each OWNER+NAME or NAME")
    parser.add_argument("--work", type=Path, required=True, help="where the checkout and the cache are kept")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--until", default="HEAD", help="the last of the commits")
    parser.add_argument("--keep", action="store_true", help=f"put the sums into {PAGE.relative_to(REPOSITORY)}")
    options = parser.parse_args()
    project = PROJECTS[options.project]
    tree = options.work / options.project
    if not tree.exists():
        origin = clone_of(options.clones, project.repository)
        subprocess.run(["git", "clone", "--quiet", "--shared", str(origin.resolve()), str(tree)], check=True)
    took: list[float] = []
    new = incomplete = 0
    for commit, subject in _commits(tree, project, options.until, options.count):
        try:
            git(tree, "checkout", "--quiet", "--force", commit)
            project.configure(tree)
        except Unavailable as error:
            print(f"{commit[:10]}  not configured: {error}", flush=True)
            continue
        began_s = _computed_by_children_s()
        wall_s, found, problem = _check(tree, options.work / "cache")
        took.append(_computed_by_children_s() - began_s)
        new += len(found)
        incomplete += bool(problem)
        print(
            f"{commit[:10]} {took[-1]:6.1f} s ({wall_s:.1f} s by the clock)  {len(found)} new  {subject[:80]}{problem}",
            flush=True,
        )
        for line in found:
            print(f"    {line}", flush=True)
    if took:
        print(
            f"{len(took)} commits, {new} new findings; median {statistics.median(took):.1f} s, most {max(took):.1f} s"
        )
    if took and options.keep:
        last = git(tree, "log", "-1", "--format=%h, %ad", "--date=format:%B %Y", "HEAD").decode().strip()
        median, most = round(statistics.median(took), 1), round(max(took), 1)
        keep(options.project, Reviewed(last, len(took), new, incomplete, median, most))
        write_table()
    return 0


def _computed_by_children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _commits(tree: Path, project: Project, until: str, count: int) -> list[tuple[str, str]]:
    """The last commits of the first parents that touch the sources, oldest first."""
    paths = [f":(glob){path}" if "/" not in path else path for path in project.sources]
    text = git(tree, "log", "--first-parent", f"-{count}", "--format=%H %s", until, "--", *paths)
    found = [line.partition(" ") for line in text.decode(errors="replace").splitlines()]
    return [(commit, subject) for commit, _, subject in reversed(found)]


def _check(tree: Path, cache: Path) -> tuple[float, list[str], str]:
    """Seconds, what is new at low and above, and what went wrong."""
    started = time.monotonic()
    done = subprocess.run(
        [*linemate(), "check", "-p", ".", "--base", "HEAD^", "--format", "json", "--min-severity", "low"],
        cwd=tree,
        env={**os.environ, "LINEMATE_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    wall_s = time.monotonic() - started
    if not done.stdout:
        return wall_s, [], f"  FAILED: {done.stderr.strip()[-200:]}"
    report = json.loads(done.stdout)
    found = [f"{f['severity']} {f['rule']}: {f['message'][:300]}" for f in report["findings"]]
    incomplete = "  (incomplete)" if done.returncode == 3 else ""
    return wall_s, found, incomplete


if __name__ == "__main__":
    sys.exit(main())
