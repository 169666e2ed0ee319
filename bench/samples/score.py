"""What linemate says of a program's recording, against the truth.

Owns the comparison.  Only findings of medium and above count: what is below accuses nobody.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from bench.measure import Unavailable, run
from bench.places import AUDIT_EXITS, linemate
from bench.samples.programs import Program
from sharing.model.finding import Severity, Verdict
from sharing.model.recorded import Recording

FREQUENCY_HZ = "1999"
_LEFT = 1.7  # processors that others leave to a run: with fewer, two threads seldom had one each
_TRIES, _PAUSE_S = 6, 1.0
_ACCUSED = (Severity.MEDIUM.value, Severity.HIGH.value)
_TRUE = (Verdict.TRUE_SHARING, Verdict.LOCK_CONTENTION)  # they ask for no other layout


@dataclass(frozen=True, slots=True)
class Scored:
    """``found`` is None for a program in which nothing is to be found, ``allocation`` where none is to be named.

    ``named``: its members are called what they are; ``others`` are findings that should not be there.
    """

    found: bool | None
    named: bool
    allocation: bool | None
    others: tuple[str, ...]

    @property
    def words(self) -> str:
        parts = [] if self.found is None else ["found" if self.found else "MISSED"]
        if self.found:
            parts.append("named" if self.named else "NOT NAMED")
            if self.allocation is not None:
                parts.append("allocation" if self.allocation else "NO ALLOCATION")
        if self.found is None and not self.others:
            parts.append("nothing, as it is right")
        return ", ".join([*parts, *(f"ACCUSED: {one}" for one in self.others)])


def profile_of(binary: Path) -> Path:
    """Where its recording lies."""
    return binary.with_name(f"{binary.name}.data")


def record(binary: Path) -> None:
    """One run, with samples and the places of allocations.

    Where others take the processors its threads take turns on what is left, and nothing shows: then it is tried again.
    """
    profile = profile_of(binary)
    options = ["-q", "--heap", "--frequency", FREQUENCY_HZ, "-o", str(profile)]
    for _ in range(_TRIES):
        done = run(linemate("record", *options, "--", str(binary)))
        if done.returncode:
            raise Unavailable(f"nothing is recorded: {done.stderr.strip()[-200:]}")
        recording = msgspec.json.decode(Path(f"{profile}.json").read_bytes(), type=Recording)
        if all(one.processors_left >= _LEFT for one in recording.runs):
            break
        time.sleep(_PAUSE_S)


def judge(program: Program, binary: Path) -> Scored:
    """An audit of its recording against the truth."""
    profile = str(profile_of(binary))
    line = linemate("audit", str(binary), "--samples", profile, "--min-severity", "note", "--format", "json")
    done = run(line, keep_output=True)
    if done.returncode not in AUDIT_EXITS:
        raise Unavailable(f"the audit does not run: {done.stderr.strip()[-200:]}")
    return score(program, msgspec.json.decode(done.stdout))


def score(program: Program, report: dict[str, Any]) -> Scored:
    """Compares a report with the truth."""
    accused = [
        finding
        for finding in report["findings"]
        if finding["severity"] in _ACCUSED and finding["verdict"] not in _TRUE and _is_sampled(finding)
    ]
    wanted = sorted(_plain(name) for name in program.apart)
    right = [finding for finding in accused if wanted and _is_about(finding, wanted)]
    of_them = [finding for finding in right if all(_tells(finding, name) for name in wanted)]
    texts = [evidence["text"] for finding in right for evidence in finding["evidence"]]
    allocated = any(text.startswith("allocated: ") and program.allocated in text for text in texts)
    return Scored(
        found=bool(right) if wanted else None,
        named=bool(of_them),
        allocation=allocated if program.allocated and wanted else None,
        others=tuple(" / ".join(_names(finding)) for finding in accused if finding not in right),
    )


def _is_sampled(finding: dict[str, Any]) -> bool:
    return str(finding["confidence"]).startswith("sampled")


def _is_about(finding: dict[str, Any], wanted: list[str]) -> bool:
    """It names what is to be parted, or memory that has no name: then it can be nothing else."""
    named = any(_tells(finding, name) for name in wanted)
    return named or not any(re.fullmatch(r"[\w.]+", name) for name in _names(finding))


def _tells(finding: dict[str, Any], wanted: str) -> bool:
    """It names that, or a part of it: what goes on behind the name."""
    return any(re.match(rf"{re.escape(wanted)}(?!\w)", name) for name in _names(finding))


def _names(finding: dict[str, Any]) -> Iterator[str]:
    for one in finding["participants"]:
        yield _plain(f"{one['name']}.{one['member']}" if one["member"] else one["name"])


def _plain(name: str) -> str:
    """Without the numbers of elements: which of an array's they are is told by the layout of one run."""
    return re.sub(r"\[\d*\]", "", name)
