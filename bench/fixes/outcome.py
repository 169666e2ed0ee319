"""What ``check`` says of a repair: its findings before and after, and which are about what was repaired."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.fixes.fixes import Fix, Recipe
from bench.fixes.trees import extract, flags
from bench.places import linemate

RANKS = ("", "note", "low", "medium", "high")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Side:
    """One revision: do all units parse, and the findings about what was repaired, worst first."""

    parses: bool
    about: tuple[tuple[str, str], ...]  # severity, rule
    others: int  # findings at low or above about something else
    wall_s: float
    why: str = ""  # the first unit that does not parse, or why nothing was judged

    @property
    def worst(self) -> str:
        return self.about[0][0] if self.about else ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A repair, judged before and after."""

    fix: Fix
    before: Side
    after: Side

    @property
    def flagged(self) -> bool:
        """Said to be worth a repair before it."""
        return RANKS.index(self.before.worst) >= RANKS.index("medium")

    @property
    def clean(self) -> bool:
        """Nothing is said about it after the repair."""
        return self.after.parses and RANKS.index(self.after.worst) < RANKS.index("low")


def judge(fix: Fix, recipes: Mapping[str, Recipe], clones: Path, work: Path) -> Outcome:
    """Take both revisions out of the clone and check their units."""
    sides = [
        _side(
            fix, f"{fix.commit}{at}", fix.units_before if at and fix.units_before else fix.units, recipes, clones, work
        )
        for at in ("^", "")
    ]
    return Outcome(fix, *sides)


def _side(
    fix: Fix, revision: str, units: tuple[str, ...], recipes: Mapping[str, Recipe], clones: Path, work: Path
) -> Side:
    tree = work / fix.name
    shutil.rmtree(tree, ignore_errors=True)
    recipe = recipes[fix.recipe]
    extract(clone_of(clones, fix.project), revision, recipe.paths, tree)
    words = [*fix.flags, *flags(recipe, tree)]
    for other, at in recipe.needs.items():
        project, _, commit = at.partition("@")
        beside = work / f"{other}-{commit[:10]}"
        if not beside.exists():
            extract(clone_of(clones, project), commit, recipes[other].paths, beside)
        words += flags(recipes[other], beside)
    started = time.monotonic()
    done = subprocess.run(
        [*linemate(), "check", "--no-cache", "--format", "json", "--min-severity", "low", *units, "--", *words],
        cwd=tree,
        capture_output=True,
        check=False,
        text=True,
    )
    wall_s = time.monotonic() - started
    if done.returncode not in (0, 1, 3):
        return Side(False, (), 0, wall_s, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no report")
    report = json.loads(done.stdout)
    counts = report["coverage"]["counts"]
    names = set(fix.names)
    about, others = [], 0
    for finding in report["findings"]:
        if names & _named(finding):
            about.append((finding["severity"], finding["rule"]))
        else:
            others += RANKS.index(finding["severity"]) >= RANKS.index("low")
    about.sort(key=lambda one: -RANKS.index(one[0]))
    failed = [note for note in report["coverage"]["notes"] if "analysed" in note]
    parses = not counts.get("units_failed") and not counts.get("units_in_part")
    return Side(parses, tuple(about), others, wall_s, "" if parses else " ".join(failed)[:300])


def _named(finding: Mapping[str, object]) -> set[str]:
    """All words of the names, types and members of a finding."""
    words: set[str] = set()
    participants = finding["participants"]
    assert isinstance(participants, list)
    for one in participants:
        for key in ("name", "type", "member", "identity"):
            words.update(_WORD.findall(str(one.get(key, ""))))
    return words


def clone_of(clones: Path, project: str) -> Path:
    """A clone as ``OWNER+NAME`` or as ``NAME``, bare or not, below the folder that was given."""
    owner_name = project.replace("/", "+")
    for folder in (clones / owner_name / "repo", clones / owner_name, clones / project.split("/")[1]):
        if folder.is_dir():
            return folder
    return clones / owner_name
