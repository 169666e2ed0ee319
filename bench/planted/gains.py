"""``python -m bench.planted.gains build FOLDER | table FILE``: what the edits of ``fix`` gain in the planted programs.

Owns the builds before and after all edits from low on, and the table of what ``turns.py`` printed of them.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from bench.places import REPOSITORY
from bench.planted import turns
from bench.planted.build import COMPILERS
from bench.planted.truth import Program, read, sources

LINEMATE = REPOSITORY / "scripts" / "linemate"


def main() -> int:
    """Build, or print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.planted.gains", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("action", choices=("build", "table"))
    parser.add_argument("path", type=Path)
    options = parser.parse_args()
    if options.action == "table":
        print(*table(options.path.read_text(encoding="utf-8").splitlines()), sep="\n")
        return 0
    options.path.mkdir(parents=True, exist_ok=True)
    shutil.copy(turns.__file__, options.path / "turns.py")
    with tempfile.TemporaryDirectory(prefix="gains-") as folder:
        for name, program in read().items():
            print(f"{name}: {_build(name, program, Path(folder) / name, options.path)}", flush=True)
    return 0


def _build(name: str, program: Program, folder: Path, out: Path) -> str:
    """Both builds of a program; the last line that ``fix`` says."""
    shutil.copytree(sources(name)[0].parent, folder)
    files = [folder / path.name for path in sources(name)]
    command = [COMPILERS["gcc"][files[0].suffix != ".c"], f"-std={program.standard}", *program.flags, "-O2"]
    rows = [{"directory": str(folder), "file": str(p), "arguments": [*command, "-c", str(p)]} for p in files]
    (folder / "compile_commands.json").write_text(json.dumps(rows))
    for git in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@a", "commit", "-qm", "before"],
    ):
        subprocess.run(["git", *git], cwd=folder, check=True)
    link = [*command, "-static", *map(str, files), "-pthread", "-s", "-o"]
    subprocess.run([*link, str(out / f"{name}.{turns.BEFORE}")], check=True)
    subprocess.run(
        [str(LINEMATE), "check", "-p", str(folder), "--fail-on", "never"], cwd=folder, capture_output=True, check=True
    )
    done = subprocess.run(
        [str(LINEMATE), "fix", "-p", str(folder), "--above", "low", "--apply"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,  # 1 where some finding has no edit
    )
    subprocess.run([*link, str(out / f"{name}.{turns.AFTER}")], check=True)
    refused = sum(": no edit: " in line for line in done.stderr.splitlines())
    return f"{(done.stderr.splitlines() or ['nothing to edit'])[-1]}, {refused} refused"


def table(lines: list[str]) -> list[str]:
    """Medians of the runs by program; of processor time too, since a run may wait for a clock."""
    runs: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        name, build, wall, busy, status = line.split()
        if status != "0":
            raise SystemExit(f"{name}.{build} ended with {status}")
        runs[name][build].append((float(wall), float(busy)))
    rows = ["| program | runs | before | after | times as fast | processor time |", "|---|---|---|---|---|---|"]
    for name, builds in sorted(runs.items()):
        if builds.keys() != {turns.BEFORE, turns.AFTER}:
            continue
        (wall, busy), (now, then) = (
            tuple(statistics.median(each) for each in zip(*builds[build], strict=True))
            for build in (turns.BEFORE, turns.AFTER)
        )
        count = min(len(each) for each in builds.values())
        times = f"{wall:.2f} s | {now:.2f} s | {wall / max(now, 1e-3):.2f} | {busy / max(then, 1e-3):.2f}"
        rows.append(f"| {name} | {count} | {times} |")
    return rows


if __name__ == "__main__":
    sys.exit(main())
