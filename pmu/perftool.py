"""The ``perf`` program: where it is, what it can, and trying out an event with it.

Owns finding perf, its command lines for sampling, and the trial of a choice.  Does not record what a user asked for
(``pmu.record``).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pmu.events import Addresses, Candidate, candidates, registers_of
from pmu.machine import Machine
from pmu.perfdata.registers import KEPT_STACK_BYTES
from sharing.model.errors import LinemateError
from sharing.model.process import children, scratch
from sharing.model.samples import Samples

INSTALL = "Debian: apt install linux-perf; Ubuntu: linux-tools-$(uname -r); Fedora, Arch: perf"
# `perf record --control` tells when sampling has started.
OLDEST = (5, 10)
_TRIAL_S = 20.0
_VERSION = re.compile(r"perf version (\d+)\.(\d+)\S*")
# Some 30 ms of a shell's work: loads and stores enough for any event that is not sparse.
_TRIAL_WORK = ("/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")
_TRIAL_HZ = 3999
_REASON_LINES, _REASON_LENGTH = 3, 300  # of what perf says, at most
_SENTENCE = re.compile(r"\w[.!](?= |$)")
# What perf prints besides the reason.
_NOISE = re.compile(
    r"Error:$|Usage:|\s*or: |\s*-\w, |Run 'perf list'|/bin/dmesg|\[ perf record|WARNING: perf not found"
    r"|Events (en|dis)abled"
)


@dataclass(frozen=True, slots=True)
class Perf:
    path: str
    version: str  # as it prints it, without the words
    buildid_mmap: bool  # build-ids travel with the mappings

    @property
    def number(self) -> tuple[int, int]:
        found = _VERSION.match(f"perf version {self.version}")
        return (int(found[1]), int(found[2])) if found else (0, 0)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to sample.  ``modes`` is user, kernel or both; ``period`` 0 keeps to ``frequency_hz``.

    ``stacks``: each sample has a copy of the innermost frames of user mode.
    """

    frequency_hz: int
    period: int = 0
    modes: str = "both"
    stacks: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """An event on this machine: ``refusal`` "" where it works."""

    candidate: Candidate
    refusal: str = ""


def find_perf() -> Perf:
    """The perf on PATH.  Raises LinemateError with what to install, or what is wrong with it."""
    path = shutil.which("perf")
    if path is None:
        raise LinemateError(f"perf is not on PATH ({INSTALL})")
    said = _run([path, "version"])
    found = _VERSION.search(said.stdout)
    if said.returncode != 0 or not found:
        raise LinemateError(f"{path} does not work: {reason(said.stdout + said.stderr)} ({INSTALL})")
    version = found[0].removeprefix("perf version ")
    # A kernel before 5.12 refuses, a perf before 5.12 does not know the option.
    dry = _run([path, "record", "--buildid-mmap", "--dry-run", "-e", "cpu-clock", "-o", os.devnull, "--", "true"])
    return Perf(path, version, dry.returncode == 0)


def check_version(perf: Perf) -> None:
    """Raises LinemateError for a perf that is too old to record with."""
    if perf.number < OLDEST:
        raise LinemateError(f"{perf.path} is version {perf.version}; recording needs 5.10 or newer ({INSTALL})")


def sampling_options(candidate: Candidate, machine: Machine, sampling: Sampling) -> list[str]:
    """perf record's options for an event: events, registers, what each sample holds.  Neither target nor file."""
    options = [part for event in candidate.events for part in ("-e", event)]
    options += ["-c", str(sampling.period)] if sampling.period else ["-F", str(sampling.frequency_hz)]
    # -d: data addresses, and the mappings of data, anonymous memory among them.
    options += ["-d", "-T", "-P", "--sample-cpu"]
    registers = registers_of(machine)
    if candidate.choice.registers and registers is not None:
        options += [f"--intr-regs={registers[0]}", f"--user-regs={registers[1]}"]
    if candidate.choice.addresses is Addresses.MEASURED:
        options += ["-W"]
    if sampling.stacks:
        options += ["--call-graph", f"dwarf,{KEPT_STACK_BYTES}"]
    if sampling.modes != "both":
        options += [f"--all-{sampling.modes}"]
    return options


def trials(perf: Perf, machine: Machine, modes: str = "both") -> Iterator[Trial]:
    """Every choice in order, each tried when it is asked for."""
    for candidate in candidates(machine):
        yield Trial(candidate, candidate.refusal or try_out(perf, machine, candidate, modes))


def try_out(perf: Perf, machine: Machine, candidate: Candidate, modes: str = "both") -> str:
    """Record a short work of our own.  Gives why the event does not work, "" where it does."""
    choice = candidate.choice
    with scratch.subfolder("trial") as folder:
        out = folder / "trial.data"
        # Kernel samples of so short a work may well be none.
        work = modes if modes == "user" else "both"
        line = [perf.path, "record", "-B", "-N", "-o", str(out)]
        line += sampling_options(candidate, machine, Sampling(_TRIAL_HZ, modes=work))
        line += ["-a"] if choice.whole_machine else []
        done = _run([*line, "--", *_TRIAL_WORK])
        if done.returncode != 0:
            return reason(done.stderr + done.stdout)
        if choice.decode:
            decoded = folder / "decoded.data"
            done = _run([perf.path, "inject", *choice.decode, "-i", str(out), "-o", str(decoded)])
            if done.returncode != 0:
                return f"perf cannot decode it: {reason(done.stderr + done.stdout)}"
            out = decoded
        return _fault_of(out, candidate)


def _fault_of(out: Path, candidate: Candidate) -> str:
    """What a trial's recording lacks of what its event promises."""
    from pmu.perfdata import reader as perfdata

    choice = candidate.choice
    try:
        samples = perfdata.read(out)
    except (LinemateError, OSError) as error:
        return f"what perf wrote cannot be read: {error}"
    if choice.generic is not None and choice.generic not in {(e.type, e.config) for e in samples.events}:
        names = ", ".join(event.name for event in samples.events) or "nothing"
        return f"the kernel does not have it; perf took {names} instead"
    if len(samples.samples) == 0:
        return "" if choice.sparse else "it can be opened, but gives no samples"
    if choice.addresses is Addresses.MEASURED and not samples.samples["addr"].any():
        return "samples have no data addresses"
    if choice.addresses is Addresses.DERIVED and not _has_registers(samples):
        return "samples have no registers"
    return ""


def _has_registers(samples: Samples) -> bool:
    return bool((samples.samples["regs_intr"] >= 0).any())


def reason(said: str) -> str:
    """perf's own reason out of what it printed, in one line."""
    lines: list[str] = []
    for line in said.splitlines():
        if line.lstrip().startswith("Usage:"):
            break
        if line.strip() and not _NOISE.match(line.strip()):
            lines.append(" ".join(line.replace("\\___", "").split()))
    text = " ".join(lines[:_REASON_LINES]).strip()
    if len(lines) > _REASON_LINES or len(text) > _REASON_LENGTH:
        # Whole sentences, as many as fit.
        end = max((found.end() for found in _SENTENCE.finditer(text[:_REASON_LENGTH])), default=0)
        text = text[:end] or (text[:_REASON_LENGTH] + "…" if len(text) > _REASON_LENGTH else text)
    return text or "no reason given"


def _run(line: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        done = children.run(line, timeout_s=_TRIAL_S, bond=children.WhenKilled.TREE, env={**os.environ, "LC_ALL": "C"})
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(line, 1, "", f"not done after {_TRIAL_S:.0f} s")
    except OSError as error:
        return subprocess.CompletedProcess(line, 1, "", f"{line[0]}: {error.strerror}")
    out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(line, done.returncode, out, err)
