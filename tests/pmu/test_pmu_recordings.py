"""Recordings made on this machine: the reader and ``perf script`` agree sample by sample.

Each case is the exact ``perf record`` command.  What this machine cannot record is in test_pmu_perfdata.py.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pmu import read_samples
from sharing.model.samples import Field, Samples

Record = Callable[..., Path]

RECORDINGS = {
    "clock": ("-e", "cpu-clock"),
    "registers": ("-e", "cpu-clock", "-I"),
    "a few registers of both kinds": ("-e", "cpu-clock", "--intr-regs=DI,IP,R8", "--user-regs=AX,SP,IP"),
    "call chains": ("-e", "cpu-clock", "-g", "-I", "--sample-cpu"),
    "stacks": ("-e", "cpu-clock", "--call-graph", "dwarf,512", "-F", "500"),
    "data addresses": ("-e", "page-faults", "-c", "1", "-d"),
    "every memory field": ("-e", "page-faults", "-c", "1", "-d", "-W", "--phys-data", "--sample-cpu"),
    "page sizes": ("-e", "page-faults", "-c", "1", "-d", "--data-page-size", "--code-page-size"),
    "several events": ("--sample-cpu", "-R", "-e", "cpu-clock,page-faults,context-switches", "-d"),
    "events of different layout": ("-e", "cpu-clock/call-graph=fp/,page-faults/period=1/", "-d"),
    "raw data": ("-R", "-e", "sched:sched_switch,cpu-clock", "--sample-cpu", "-g"),
    "per thread": ("--per-thread", "-e", "cpu-clock", "-d"),
    "all of the machine": ("-a", "-e", "cpu-clock", "-d"),
    "compressed": ("-z", "-e", "cpu-clock", "-I", "-d"),
    "one file a thread": ("--threads", "-e", "cpu-clock", "-I"),
    "one file a thread, compressed": ("--threads", "-z", "-e", "cpu-clock", "-d"),
    "build-ids in mappings": ("--buildid-mmap", "-e", "cpu-clock"),
    "switches and namespaces": ("--switch-events", "--namespaces", "-e", "cpu-clock"),
    "no time": ("-e", "cpu-clock", "--no-timestamp"),
}
IN_A_PIPE = ("clock", "call chains", "several events", "compressed", "data addresses")


@pytest.fixture(params=sorted(RECORDINGS))
def recording(request: pytest.FixtureRequest, record: Record) -> Path:
    return record(*RECORDINGS[request.param])


@pytest.fixture(params=IN_A_PIPE)
def piped(request: pytest.FixtureRequest, record: Record) -> Path:
    return record(*RECORDINGS[request.param], to_pipe=True)


def perf_script(path: Path, fields: str) -> list[str]:
    command = ["perf", "script", "-G", "--ns", "-i", str(path), "-F", fields]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if line.strip()]


def common(samples: Samples) -> Field:
    fields = samples.events[0].fields
    for event in samples.events[1:]:
        fields &= event.fields
    return fields


# What perf prints when asked for these fields, in its own fixed order.
HEAD = r"\s*(?P<comm>\S.*?)\s+(?P<pid>-?\d+)/(?P<tid>-?\d+)\s+"
CPU, TIME, EVENT = r"\[(?P<cpu>\d+)\]\s+", r"(?P<s>\d+)\.(?P<ns>\d{9}):\s+", r"(?P<event>\S.*?):\s+"
ADDR, PLACE = r"(?P<addr>[0-9a-f]+)\s+(?:\(.*?\)\s+)?", r"(?P<ip>[0-9a-f]+) \((?P<dso>.*)\)"
DATA_SRC, WEIGHT = r"(?P<data_src>[0-9a-f]+) \|OP.*?\s+(?=\d+\s)", r"(?P<weight>\d+)\s+"


def check_against_perf(path: Path) -> Samples:
    samples = read_samples(path)
    fields = common(samples)
    wanted, pattern = ["comm", "pid", "tid"], HEAD
    for name, flag, part in (("cpu", Field.CPU, CPU), ("time", Field.TIME, TIME)):
        if fields & flag:
            wanted.append(name)
            pattern += part
    wanted.append("event")
    pattern += EVENT
    for name, flag, part in (
        ("addr", Field.ADDR, ADDR),
        ("data_src", Field.DATA_SRC, DATA_SRC),
        ("weight", Field.WEIGHT, WEIGHT),
    ):
        # perf's data_src ends in words; a number must follow for its end to be found.
        if fields & flag and (name == "addr" or fields & Field.WEIGHT):
            wanted.append(name)
            pattern += part
    lines = perf_script(path, ",".join([*wanted, "ip", "dso"]))
    table = samples.samples
    assert len(lines) == len(table) > 0
    comms = samples.comm_rows(table["tid"], table["time"])
    for at, (line, row) in enumerate(zip(lines, table, strict=True)):
        found = re.fullmatch(pattern + PLACE + r"\s*", line)
        assert found, (pattern, line)
        told = found.groupdict()
        assert (int(told["pid"]), int(told["tid"])) == (row["pid"], row["tid"]), line
        assert int(told["ip"], 16) == row["ip"], line
        assert told["event"].split(":")[0] == samples.events[row["event"]].name.split(":")[0], line
        if "s" in told:
            assert int(told["s"] + told["ns"]) == row["time"], line
        if "cpu" in told:
            assert int(told["cpu"]) == row["cpu"], line
        for name, base in (("addr", 16), ("data_src", 16), ("weight", 10)):
            if name in told:
                assert int(told[name], base) == row[name], (name, line)
        if fields & Field.TIME:
            # Without times, whether a sample came before or after an exec on another CPU is a guess on both sides.
            # perf calls a thread that ended, or that nothing is known of, by its number.
            assert told["comm"] == (samples.comms[comms[at]] if comms[at] >= 0 else f":{row['tid']}"), line
            check_image(samples, at, told["dso"], line)
    return samples


def check_image(samples: Samples, at: int, dso: str, line: str) -> None:
    image = samples.image_of(at)
    if dso.startswith("[kernel.kallsyms]"):
        assert image.startswith("[kernel.kallsyms]"), line
    elif dso == "[unknown]":
        assert image == "", line
    elif re.fullmatch(r"/tmp/perf-\d+\.map", dso):
        # perf (map__new) calls memory without a file that holds code by the file where a compiler at run time would
        # name its functions, whether there is one or not: under valgrind, say. The event itself says it is anonymous.
        assert image == "//anon", line
    else:
        assert image == dso, line


def test_reader_and_perf_script_agree(recording: Path) -> None:
    samples = check_against_perf(recording)
    assert samples.counts.unknown_records == samples.counts.skipped_samples == samples.counts.missing_bytes == 0
    assert samples.counts.samples == len(samples.samples)
    assert samples.counts.notes == ()


def test_reader_and_perf_script_agree_on_what_came_through_a_pipe(piped: Path) -> None:
    assert check_against_perf(piped).counts.missing_bytes == 0


def test_members_of_a_group_are_counted_with_the_samples_of_its_leader(record: Record) -> None:
    """perf script makes samples up for the members, which were only counted; the reader leaves these counts out."""
    path = record("-e", "{cpu-clock,page-faults}:S", "-d")
    samples = read_samples(path)
    leaders = [line for line in perf_script(path, "event,tid,time,ip") if "cpu-clock" in line]
    assert {e.name for e in samples.events} == {"cpu-clock", "page-faults"}
    assert [int(line.split()[-1], 16) for line in leaders] == samples.samples["ip"].tolist() != []
    assert samples.counts.skipped_samples == 0


def test_a_breakpoint_is_an_event_with_an_address(record: Record, counters: int, program: Path) -> None:
    samples = check_against_perf(
        record("-e", f"mem:{counters:#x}/8:w", "-c", "10", "-d", "-I", command=(str(program), "2000"))
    )
    (event,) = samples.events
    assert (event.config1, event.config2, event.breakpoint_type) == (counters, 8, 2)
    assert set(samples.samples["addr"].tolist()) == {counters}


@pytest.mark.parametrize("name", ["registers", "a few registers of both kinds", "call chains", "compressed"])
def test_registers_are_those_that_perf_prints(record: Record, name: str) -> None:
    """perf prints every register of the mask, in the mask's order."""
    path = record(*RECORDINGS[name])
    samples = read_samples(path)
    (event,) = samples.events
    for field, mask, user in (("iregs", event.regs_intr_mask, False), ("uregs", event.regs_user_mask, True)):
        if not mask:
            continue
        lines = perf_script(path, f"pid,{field}")
        assert len(lines) == len(samples.samples)
        bits = [bit for bit in range(64) if mask >> bit & 1]
        columns = [samples.register(np.arange(len(lines)), bit, user=user) for bit in bits]
        for at, line in enumerate(lines):
            told = [int(v, 16) for v in re.findall(r"(?<!ABI):0x([0-9a-f]+)", line)]
            own = [int(values[at]) for values, known in columns if known[at]]
            assert own == told, line


def test_data_addresses_have_mappings(record: Record) -> None:
    """With -d, perf names the file or memory that each data address lies in."""
    path = record(*RECORDINGS["data addresses"])
    samples = read_samples(path)
    rows = samples.data_mappings()
    seen = set()
    for at, line in enumerate(perf_script(path, "addr,dso")):
        found = re.fullmatch(r"\s*([0-9a-f]+)(?: \((.*)\))?\s*", line)
        assert found, line
        assert int(found[1], 16) == samples.samples["addr"][at]
        name = samples.paths[samples.mappings["path"][rows[at]]] if rows[at] >= 0 else None
        if found[2] and not found[2].startswith("["):
            assert name == found[2], line
            seen.add(name)
    assert len(seen) > 3


def test_mappings_know_their_files(record: Record, program: Path) -> None:
    samples = read_samples(record(*RECORDINGS["clock"]))
    row = next(m for m in samples.mappings if samples.paths[m["path"]] == str(program))
    about = program.stat()
    assert (row["inode"], row["protection"]) == (about.st_ino, 5)
    assert row["build_id"] >= 0
    notes = subprocess.run(["readelf", "-n", str(program)], capture_output=True, text=True, check=True).stdout
    assert samples.build_ids[row["build_id"]] in notes


def test_the_recording_describes_itself(record: Record) -> None:
    about = read_samples(record(*RECORDINGS["clock"])).recording
    assert about.format == "perf.data"
    assert about.command[:4] == ("/usr/bin/perf", "record", "-e", "cpu-clock")
    assert (
        about.architecture == subprocess.run(["uname", "-m"], capture_output=True, text=True, check=True).stdout.strip()
    )
    assert about.recorder.startswith("perf ")
    assert not about.big_endian
