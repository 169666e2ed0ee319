"""``python -m bench.reviews.small``: small programs of several files and pull requests against them.

Each program below ``pulls`` has the files of its base in ``base`` and, in a folder each, the files that a pull request
changes.  ``pulls.json`` says what is right to say of it, which was written down before linemate judged one: something
new about the data that is named, something new once the program is linked, or nothing.  ``check --base HEAD~1`` judges
each twice: from the sources alone, and with the linked program (``--binary``) and its build (``--build``).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from bench.places import linemate
from sharing.model.finding import Severity

PULLS = Path(__file__).with_name("pulls")
_WORD = re.compile(r"\w+")
_FLAGS = ("-O2", "-g", "-pthread")
_BUILD = "sh build.sh"
_COMPILERS = {".c": "cc", ".cc": "c++"}
_IDENTITY = ("-c", "user.name=linemate", "-c", "user.email=linemate@localhost")


class Pull(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pull request, and whether something new about the data of these names is right to say: ``linked`` only then."""

    program: str
    pull: str
    kind: str
    what: str
    new: Literal["always", "linked", "never"]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """What a check said is new, from low on: about the named data, and about others; and its notes."""

    about: tuple[tuple[Severity, str], ...]
    others: tuple[tuple[Severity, str], ...]
    undecided: bool
    problem: str = ""

    @property
    def worst(self) -> str:
        found = self.about or self.others
        return f"{found[0][0]} `{found[0][1]}`" if found else "undecided" if self.undecided else "nothing"


def is_right(pull: Pull, said: Said, *, linked: bool) -> bool:
    """Medium or more where something is new, and nothing from low on where nothing is."""
    wanted = pull.new == "always" or (linked and pull.new == "linked")
    found = any(severity.rank >= Severity.MEDIUM.rank for severity, _ in said.about)
    return not said.problem and not said.others and (found if wanted else not said.about)


def judge(pull: Pull, work: Path, *, linked: bool) -> Said:
    """Commit the base and the pull request, and check the one against the other."""
    tree = work / f"{pull.program}-{pull.pull}"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(PULLS / pull.program / "base", tree)
    suffix = ".cc" if list(tree.glob("*.cc")) else ".c"
    build = f"{_COMPILERS[suffix]} {' '.join(_FLAGS)} -o program *{suffix}"
    (tree / "build.sh").write_text(f"set -e\n{build}\n", encoding="utf-8")
    (tree / ".gitignore").write_text("program\ncompile_commands.json\n", encoding="utf-8")
    _git(tree, "init", "--quiet")
    _commit(tree, "base")
    # With times of now: git takes an equal size and time for no change.
    shutil.copytree(PULLS / pull.program / pull.pull, tree, dirs_exist_ok=True, copy_function=shutil.copy)
    _commit(tree, pull.pull)
    commands = [
        {"directory": str(tree), "file": str(file), "arguments": [_COMPILERS[suffix], *_FLAGS, "-c", str(file)]}
        for file in sorted(tree.glob(f"*{suffix}"))
    ]
    (tree / "compile_commands.json").write_text(json.dumps(commands), encoding="utf-8")
    words = ["--base", "HEAD~1", "--format", "json", "--min-severity", "low"]
    if linked:
        subprocess.run(_BUILD.split(), cwd=tree, check=True)
        words += ["--binary", "program", "--build", _BUILD]
    done = subprocess.run(
        [*linemate(), "check", *words],
        cwd=tree,
        env={**os.environ, "LINEMATE_CACHE": str(work / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout:
        return Said((), (), undecided=False, problem=done.stderr.strip()[-300:])
    return _said(pull, json.loads(done.stdout), incomplete=done.returncode == 3)


def _said(pull: Pull, report: dict[str, list[dict[str, object]]], *, incomplete: bool) -> Said:
    about: list[tuple[Severity, str]] = []
    others: list[tuple[Severity, str]] = []
    for finding in report["findings"]:
        row = Severity(str(finding["severity"])), str(finding["rule"])
        named = set(_WORD.findall(json.dumps(finding["participants"])))
        (about if named & set(pull.names) else others).append(row)
    notes = json.dumps(report["coverage"])
    problem = "incomplete" if incomplete else ""
    return Said(tuple(about), tuple(others), "undecided" in notes, problem)


def _git(tree: Path, *words: str) -> None:
    subprocess.run(["git", *_IDENTITY, *words], cwd=tree, check=True)


def _commit(tree: Path, message: str) -> None:
    _git(tree, "add", "--all")
    _git(tree, "commit", "--quiet", "--message", message)


def table(rows: Sequence[tuple[Pull, Said, Said]]) -> str:
    """The table of the documentation, and the sums."""
    lines = [
        "| program | pull request | right | of sources | with the linked program |",
        "|---|---|---|---|---|",
    ]
    right = {"always": "new", "linked": "new where linked", "never": "nothing"}
    for pull, plain, linked in rows:
        cells = [
            f"{said.worst}{'' if is_right(pull, said, linked=at) else ' (**wrong**)'}"
            for said, at in ((plain, False), (linked, True))
        ]
        lines.append(f"| {pull.program} | {pull.what} | {right[pull.new]} | {cells[0]} | {cells[1]} |")
    sums = [sum(is_right(row[0], row[2] if at else row[1], linked=bool(at)) for row in rows) for at in (0, 1)]
    return "\n".join([f"Right are {sums[0]} of {len(rows)} of sources, {sums[1]} with the linked program.", "", *lines])


def main() -> int:
    """Judge all pull requests, or those of the named programs, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.reviews.small", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="a program or a pull request; all without one")
    options = parser.parse_args()
    pulls = msgspec.json.decode((PULLS / "pulls.json").read_bytes(), type=list[Pull])
    rows = []
    with tempfile.TemporaryDirectory(prefix="pulls-") as temporary:
        for pull in pulls:
            if options.names and not {pull.program, pull.pull} & set(options.names):
                continue
            plain, linked = (judge(pull, Path(temporary), linked=at) for at in (False, True))
            rows.append((pull, plain, linked))
            for said, words in ((plain, "sources"), (linked, "linked")):
                print(f"{pull.program}/{pull.pull} {words}: {said}", file=sys.stderr, flush=True)
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
