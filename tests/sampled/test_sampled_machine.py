"""A profile of the machine: samples of other programs are no part of the audit of one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linemate.sampled.programs import of_program
from sharing.model.addressspaces import SPACE_EVENT_DTYPE, AddressSpaces, SpaceEvent
from sharing.model.attribution import Module
from sharing.model.operands import MappedFile, MappedFiles
from sharing.model.samples import MAPPING_DTYPE, SAMPLE_DTYPE, Counts, MappingFlag, Samples
from tests.builders.levels import Spent, level

SERVER, CHILD, OTHER, PARTNER, GONE = 100, 101, 200, 300, 400
READ_WRITE = 3


def profile(*, partner: int = READ_WRITE) -> tuple[Samples, MappedFiles]:
    """Each process has a sample at 10 and at 90; the server and its partner map one object of memory."""
    mappings = np.zeros(5, MAPPING_DTYPE)
    mappings["start"], mappings["end"] = 0x1000, 0x2000
    mappings["pid"] = SERVER, OTHER, SERVER, PARTNER, GONE
    mappings["inode"] = 7, 8, 9, 9, 7
    mappings["flags"][2:4] = MappingFlag.SHARED
    mappings["protection"] = 5, 5, READ_WRITE, partner, 5
    events = np.zeros(7, SPACE_EVENT_DTYPE)
    events["time"] = 1, 1, 1, 1, 1, 2, 50
    events["pid"] = SERVER, OTHER, SERVER, PARTNER, GONE, CHILD, GONE
    events["mapping"][:5] = range(5)
    events["parent"][5] = SERVER
    events["kind"] = [SpaceEvent.MAP] * 5 + [SpaceEvent.FORK, SpaceEvent.EXEC]  # GONE runs another program from 50 on
    samples = np.zeros(10, SAMPLE_DTYPE)
    samples["pid"] = np.repeat([SERVER, CHILD, OTHER, PARTNER, GONE], 2)
    samples["time"] = [10, 90] * 5
    whole = level([Spent(1, "f", 0x1000, 0.001)]).attribution.samples
    whole = replace(
        whole,
        samples=samples,
        mappings=mappings,
        spaces=AddressSpaces.replay(mappings, events),
        counts=Counts(samples=40),
    )
    files = MappedFiles(
        (MappedFile(Module("/bin/server", target=True)), MappedFile(Module("/bin/other"))),
        np.array([0, 1, -1, -1, 0], np.int32),
        np.zeros(5, np.uint64),
        np.ones(5, np.bool_),
    )
    return whole, files


def kept(samples: Samples) -> list[tuple[int, int]]:
    return [(int(pid), int(time)) for pid, time in zip(samples.samples["pid"], samples.samples["time"], strict=True)]


def test_a_process_counts_while_it_has_the_file_and_with_its_children() -> None:
    samples, files = profile(partner=1)
    mine = of_program(samples, files)
    assert kept(mine) == [(SERVER, 10), (SERVER, 90), (CHILD, 10), (CHILD, 90), (GONE, 10)]
    assert mine.counts.samples == 20, "each stood for four"


def test_who_shares_writable_memory_with_it_may_disturb_it() -> None:
    assert {pid for pid, _ in kept(of_program(*profile()))} == {SERVER, CHILD, PARTNER, GONE}


@pytest.mark.parametrize("why", ["kernel", "unmapped"])
def test_where_nobody_can_tell_all_samples_stay(why: str) -> None:
    samples, files = profile()
    assert of_program(samples, replace(files, **{why: True})) is samples
    assert of_program(samples, replace(files, of_mapping=np.full(5, -1, np.int32))) is samples


def test_a_profile_of_one_program_is_left_as_it_is() -> None:
    samples, files = profile()
    alone = replace(samples, samples=np.asarray(samples.samples[:4]))
    assert of_program(alone, files) is alone
