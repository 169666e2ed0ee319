"""Code that a program made while it ran and dumped: its accesses are read like those of a file."""

from __future__ import annotations

import time
from pathlib import Path

from elfscan.image import read_images
from linemate.modules import open_modules
from linemate.sampled.generated import generated_notes
from pmu import read_samples
from sharing.knowledge import default_knowledge
from sharing.model.attribution import Basis
from sharing.sampled.attribution.attribute import attribute
from tests.builders import perfdata as b
from tests.builders.elf import small_program
from tests.builders.jitdump import Dump

ADD = bytes.fromhex("834708014883c701c3")  # addl $1,8(%rdi); add $1,%rdi; ret
DI, OBJECT, CODE = 5, 0x7F00_0000_1000, 0x2000_0000
CLOCKED = b.SAMPLE_ID_ALL | 1 << 25


def test_an_access_of_dumped_code_has_its_place(tmp_path: Path) -> None:
    target, dump, profile = tmp_path / "vm", tmp_path / "jit-5.dump", tmp_path / "p.data"
    target.write_bytes(small_program().bytes())
    made = Dump()
    made.load(10, CODE, "JS:*add a.js:3", ADD)
    dump.write_bytes(made.file())
    kind = b.IP | b.TID | b.TIME | b.REGS_INTR
    recorded = b.Builder([b.Attr(sample_type=kind, regs_intr=1 << DI, flags=CLOCKED, clock=time.CLOCK_MONOTONIC)])
    recorded.mmap2(5, 0x40_0000, 0x1000, 0, str(target), time=1)
    recorded.mmap2(5, OBJECT, 0x1000, 0, "//anon", time=1, misc=b.USER | 1 << 13)
    recorded.mmap2(5, 0x3000_0000, 0x1000, 0, str(dump), time=2)
    recorded.sample(ip=CODE + 4, pid=5, tid=5, time=20, intr=[OBJECT])
    profile.write_bytes(recorded.file())
    samples, image, knowledge = read_samples(profile), next(iter(read_images(str(target)))), default_knowledge()
    placed = attribute(samples, image, open_modules(samples, image, knowledge), knowledge)
    assert placed.rows["basis"].tolist() == [Basis.DERIVED]
    assert placed.rows["place"].tolist() == [OBJECT + 8]
    assert [placed.functions[row] for row in placed.rows["function"]] == ["JS:*add a.js:3"]
    (said,) = generated_notes(str(profile), placed)
    assert f"1 of 1 samples are in code that the program made while it ran, read from {dump}" in said
