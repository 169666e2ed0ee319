"""Profiles that are text: what perf script prints, listings of opreport, tables with a header."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pmu import read_samples, readers
from pmu.__main__ import main
from sharing.model.errors import LinemateError, Malformed, Unrecognized
from sharing.model.samples import DATA_SRC_LOAD, DATA_SRC_STORE, Field, Samples

Record = Callable[..., Path]


def read(where: Path, text: str) -> Samples:
    path = where / "profile"
    path.write_text(text)
    return read_samples(path)


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        (("-e", "cpu-clock", "-d", "--sample-cpu"), "comm,pid,tid,cpu,time,event,ip,sym,dso,period"),
        (("-e", "cpu-clock", "-d", "--sample-cpu"), "comm,pid,tid,cpu,time,event,ip"),
        (
            ("-e", "page-faults", "-c", "1", "-d", "-W"),
            "comm,pid,tid,time,event,addr,weight,data_src,ip,sym,symoff,dso",
        ),
        (("-e", "page-faults", "-c", "1", "-d", "-I"), "comm,pid,tid,time,event,addr,ip,sym,dso,iregs"),
        (("-e", "page-faults,cpu-clock", "-d", "--phys-data", "-g"), "comm,pid,tid,time,event,addr,ip,sym,phys_addr"),
    ],
)
def test_text_of_perf_says_the_same_as_the_recording(
    tmp_path: Path, record: Record, options: tuple[str, ...], fields: str
) -> None:
    binary = record(*options)
    command = ["perf", "script", "-G", "--ns", "-i", str(binary), "-F", fields]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    samples, told = read_samples(binary), read(tmp_path, printed)
    assert told.recording.format == "perf script"
    assert told.counts.malformed_records == 0
    same = {"ip", "pid", "tid", "time"} | {"addr", "cpu", "weight", "data_src", "period"} & set(fields.split(","))
    for name in sorted(same):
        assert told.samples[name].tolist() == samples.samples[name].tolist(), name
    assert [told.events[e].name for e in told.samples["event"]] == [
        samples.events[e].name for e in samples.samples["event"]
    ]
    comms = told.comm_rows(told.samples["tid"], told.samples["time"])
    expected = samples.comm_rows(samples.samples["tid"], samples.samples["time"])
    assert [told.comms[c] for c in comms] == [samples.comms[c] for c in expected]
    if "dso" in fields:
        for row, image in enumerate(map(told.image_of, range(len(told.samples)))):
            own = samples.image_of(row)
            assert image == own or (image.startswith("[kernel") and own.startswith("[kernel"))
    if "sym" in fields:
        assert {"work", "main"} <= {symbol.name for symbol in told.symbols} or "page-faults" in options


MAPPED = """\
 swapper     0 [000]     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x1209) @ 0xffffffff81000000]: x [kernel]
 kv    70 [000]     1.000001: PERF_RECORD_MMAP2 70/70: [0x5600(0x1000) @ 0 <{id}>]: r--p /tmp/a b/kv
 kv    70 [000]     1.000002: PERF_RECORD_MMAP2 70/70: [0x6600(0x2000) @ 0x1000 fe:00 5324993 0]: r-xp /tmp/a b/kv
 kv    70 [000]     1.000003: PERF_RECORD_MMAP2 70/70: [0x9600(0x1000) @ 0x4000 00:00 0 0]: rw-s /dev/shm/x
 kv    70 [000]     1.000004: PERF_RECORD_COMM: kv:70/71
 kv    71 [000]     1.500000:    250000 cpu-clock:      0000000006612 f+0x2 (/tmp/a b/kv)
"""


def test_mappings_that_perf_prints_are_read(tmp_path: Path) -> None:
    told = read(tmp_path, MAPPED.replace("{id}", "ab" * 20))
    assert [told.paths[m["path"]] for m in told.mappings] == ["/tmp/a b/kv", "/tmp/a b/kv", "/dev/shm/x"]
    assert [(int(m["start"]), int(m["pgoff"]), int(m["protection"])) for m in told.mappings] == [
        (0x5600, 0, 1),
        (0x6600, 0x1000, 5),
        (0x9600, 0x4000, 3),
    ]
    assert told.build_ids == ("ab" * 20,)
    assert (len(told.samples), told.counts.malformed_records) == (1, 0)
    assert told.samples["pid"].tolist() == [70], "of the one process that was mapped"
    assert told.samples["mapping"].tolist() == [1]


def test_samples_belong_to_no_process_where_two_were_mapped(tmp_path: Path) -> None:
    other = " kv    80 [000]     1.000001: PERF_RECORD_MMAP2 80/80: [0x5600(0x1000) @ 0 00:00 0 0]: r-xp /tmp/kv\n"
    assert read(tmp_path, other + MAPPED).samples["pid"].tolist() == [-1]


def test_mappings_alone_are_no_profile(tmp_path: Path) -> None:
    with pytest.raises(LinemateError, match="not a profile"):
        read(tmp_path, MAPPED.rpartition(" kv    71")[0] * 50)


def test_call_chains_name_the_function_and_no_address(tmp_path: Path) -> None:
    samples = read(
        tmp_path,
        """# comments and blank lines between samples
mysqld  9022/9023 [001] 12.000001:     250000 cycles:u:
\t    7f12345678ab tc_release_table(TABLE*)+0x10 (/usr/sbin/my sqld)
\t           401000 main (/usr/sbin/my sqld)

mysqld  9022/9023 [001] 12.000002:     250000 cycles:u:      401000 operator()(int) (/usr/sbin/mysqld (deleted))
""",
    )
    first, second = samples.samples
    assert [s.name for s in samples.symbols] == ["tc_release_table(TABLE*)", "operator()(int)"]
    assert [s.image for s in samples.symbols] == ["/usr/sbin/my sqld", "/usr/sbin/mysqld (deleted)"]
    assert (first["ip"], second["ip"], samples.events[0].name) == (0, 0x401000, "cycles:u")
    assert (first["time"], first["cpu"], first["period"]) == (12_000_001_000, 1, 250_000)
    assert samples.events[0].fields & Field.CALLCHAIN


def test_memory_samples_of_perf_mem_are_read(tmp_path: Path) -> None:
    source = "68100442 |OP LOAD|LVL L3 or L3 hit|SNP HitM|TLB L1 or L2 hit|LCK No|BLK  N/A"
    text = (
        f"  mysqld  71/72  3.000000001: cpu/mem-loads,ldlat=30/P:  7ffd00c0ffee {source}              "
        f"   412  55d0c0de1000 add+0x12 (/usr/sbin/mysqld)   1234000\n"
    )
    samples = read(tmp_path, text)
    (row,) = samples.samples
    assert (row["addr"], row["ip"], row["weight"]) == (0x7FFD00C0FFEE, 0x55D0C0DE1000, 412)
    assert (row["data_src"], row["phys_addr"]) == (0x68100442, 0x1234000)
    assert samples.events[0].name == "cpu/mem-loads,ldlat=30/P"
    assert samples.symbols[0].name == "add"


LISTINGS = """Some words about a regression.
build A
CPU: Intel Sandy Bridge microarchitecture, speed 2.701e+06 MHz (estimated)
Counted LLC_MISSES events (Last level cache misses) with a unit mask of 0x41 (No unit mask) count 10000
samples % image name symbol name
43387 37.4148 no-vmlinux /no-vmlinux
5427 4.6800 mysqld tc_release_table(TABLE*)
2 1.2e-04 [vdso] (tgid:26275 range:0x110000-0x111000) (no symbols)
build B:

samples  %        image name               symbol name

127634    9.8497  mysqld                   SyncObject::lock(Sync*, LockType, int)

and more words, 12 of them
"""


def test_listings_of_opreport_stand_in_the_middle_of_a_page(tmp_path: Path) -> None:
    samples = read(tmp_path, LISTINGS)
    assert [(e.name, e.label, e.sample_period) for e in samples.events] == [
        ("LLC_MISSES", "build A", 10_000),
        ("samples", "build B", 1),
    ]
    found = [
        (samples.symbols[r["symbol"]].name, samples.image_of(at), int(r["period"]), int(r["event"]))
        for at, r in enumerate(samples.samples)
    ]
    assert found == [
        ("", "no-vmlinux", 433_870_000, 0),
        ("tc_release_table(TABLE*)", "mysqld", 54_270_000, 0),
        ("", "[vdso] (tgid:26275 range:0x110000-0x111000)", 20_000, 0),
        ("SyncObject::lock(Sync*, LockType, int)", "mysqld", 127_634, 1),
    ]
    assert samples.recording.cpu == "Intel Sandy Bridge microarchitecture"


def test_listings_with_addresses_line_numbers_and_two_events(tmp_path: Path) -> None:
    samples = read(
        tmp_path,
        """CPU: AMD64 family10, speed 2000 MHz (estimated)
Counted CPU_CLK_UNHALTED events (Cycles) with a unit mask of 0x00 (No unit mask) count 100000
Counted DATA_CACHE_MISSES events (Misses) with a unit mask of 0x00 (No unit mask) count 500
vma      samples  %        samples  %        linenr info                 image name   app name   symbol name
00401000 70       70.0000  30       60.0000  list.c:12                   a.out        a.out      walk
00402000 30       30.0000  0              0  (no location information)   libc.so      a.out      memcpy
""",
    )
    assert [e.name for e in samples.events] == ["CPU_CLK_UNHALTED", "DATA_CACHE_MISSES"]
    assert [(samples.symbols[r["symbol"]].name, int(r["period"])) for r in samples.samples] == [
        ("walk", 7_000_000),
        ("walk", 15_000),
        ("memcpy", 3_000_000),
    ]


def test_headings_without_rows_are_malformed(tmp_path: Path) -> None:
    with pytest.raises(Malformed, match="line 1: column headings"):
        read(tmp_path, "samples % image name symbol name\nno rows here\n")


def test_tables_with_a_header(tmp_path: Path) -> None:
    samples = read(
        tmp_path,
        """# exported
address,ip,tid,access,comm,time,event
0x601040,0x401000,12,store,worker,2000,misses
0x601044,4198404,13,load,,1000,misses
,0x401008,12,,,3000,other
""",
    )
    assert samples.samples["time"].tolist() == [1000, 2000, 3000]
    assert samples.samples["addr"].tolist() == [0x601044, 0x601040, 0]
    assert samples.samples["ip"].tolist() == [0x401004, 0x401000, 0x401008]
    assert samples.samples["data_src"].tolist() == [DATA_SRC_LOAD, DATA_SRC_STORE, 0]
    assert [e.name for e in samples.events] == ["misses", "other"]
    assert samples.comms[samples.comm_rows(samples.samples["tid"], samples.samples["time"])[1]] == "worker"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("1,2", "line 3: 2 cells, the header has 3"),
        ("zz,1,2", "line 3: invalid literal"),
        ("-5,1,2", "line 3: -5 is negative"),
        ("1,1,99999999999", "line 3: tid 99999999999 is out of range"),
        ("1" * 5000 + ",1,1", "line 3"),
        ("0x1ffffffffffffffff,1,1", "line 3: addr .* is out of range"),
    ],
)
def test_cells_without_sense_are_refused_with_their_line(tmp_path: Path, line: str, why: str) -> None:
    with pytest.raises(Malformed, match=why):
        read(tmp_path, f"addr,ip,tid\n1,2,3\n{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        "a" + " " * 16_000 + "b",
        "1 " * 8000,
        "x 1 1.0: " + "a:" * 7000,
        "x 1 1.0: 1 e: " + "f" * 15_000 + " |OP " + " " * 999,
        "x 1 1.0: 1 e: 401000 " + "( " * 7000,
        "x 1 1.0: 1 e: 401000 " + "(/ " * 5000 + " " * 900,
        "samples % " + " " * 15_000 + "x symbol name",
        "Counted " + "count 1 " * 2000,
        "9" * 15_000 + " 1.0 a b",
        "PERF_RECORD_MMAP2 1/1: [0x1(0x1) @ 0 " + "a" * 7000 + "]: r--p",
        "x" * 60 + " PERF_RECORD_MMAP2 1/1: [0x1(0x1) @ 0]: r--p /" + " " * 15_000,
    ],
)
def test_no_line_takes_long(tmp_path: Path, line: str) -> None:
    path = tmp_path / "profile"
    path.write_text((line + "\n") * 20)
    began = time.process_time()
    with pytest.raises(LinemateError, match=r"not a profile|without any row") if line[0] != "x" else _anything():
        read_samples(path)
    assert time.process_time() - began < 3


class _anything:
    """Accepts a result as well as a refusal."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is None or issubclass(kind, LinemateError)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from([*LISTINGS.splitlines(), "a 1/2 [0] 3.4: 5 e: 6 f", "ip,tid", "0x5,6", "\t 41 f", "\0"]))
)
def test_any_mixture_of_lines_is_read_or_refused(tmp_path: Path, mixture: list[str]) -> None:
    with _anything():
        read(tmp_path, "\n".join(mixture))


def test_every_reader_refuses_what_is_not_its_own(tmp_path: Path) -> None:
    path = tmp_path / "words"
    path.write_text("nothing but words\n" * 50)
    for reader in readers():
        with pytest.raises(Unrecognized):
            reader.read(path)
    with pytest.raises(LinemateError) as refusal:
        read_samples(path)
    assert all(reader.name in str(refusal.value) for reader in readers())


def test_the_dump_shows_events_losses_and_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "page"
    path.write_text(LISTINGS)
    assert main([str(path), "-n", "2"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"event +LLC_MISSES \[build A\]: 3 samples of PERIOD\|SYMBOL", out)
    assert out.count("period ") == 2
    path.write_text("words")
    assert main([str(path)]) == 2
    assert "not a profile" in capsys.readouterr().err
