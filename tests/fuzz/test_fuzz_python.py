"""Every reader written in Python on hostile input: kept inputs again, and a short run of new ones.

Coverage-guided runs are ``python -m fuzz.python``'s; what they found is in ``fuzz/corpus``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.python import targets
from fuzz.python.engine.corpus import KEPT, inputs, kept_files
from fuzz.python.engine.judge import Fault, Limits, fault_of, limited_address_space
from fuzz.python.engine.mutation import Mutator
from fuzz.python.engine.target import use_folder

# Wide: what is looked for is a reader that never ends, or that takes what the machine has.
LIMITS = Limits(cpu_s=10.0, memory_bytes=512 << 20)
MUTATIONS = 100
FILES = [(path.parent.name, path) for name in targets.NAMES for path in kept_files(name)]


@pytest.fixture(autouse=True)
def limited(tmp_path: Path) -> Iterator[None]:
    with use_folder(tmp_path), limited_address_space():
        yield


def said(fault: Fault | None) -> str:
    return "" if fault is None else f"{fault.signature}\n{fault.detail}"


@pytest.mark.parametrize(("name", "path"), FILES, ids=[f"{name}-{path.name}" for name, path in FILES])
def test_a_kept_input_is_read_or_refused_in_one_line(name: str, path: Path) -> None:
    assert said(fault_of(targets.load(name), path.read_bytes(), LIMITS)) == ""


@pytest.mark.parametrize("name", targets.NAMES)
def test_seeds_and_their_mutations_are_read_or_refused_in_one_line(name: str) -> None:
    target = targets.load(name)
    for seed in target.seeds():
        assert said(fault_of(target, seed, LIMITS)) == ""
    mutator = Mutator(inputs(name, target), target.words, target.max_bytes, seed=1)
    for _ in range(MUTATIONS):
        data = mutator.next()
        assert said(fault_of(target, data, LIMITS)) == "", data.hex()


def test_every_kept_input_belongs_to_a_target() -> None:
    assert {path.name for path in KEPT.iterdir() if path.is_dir()} <= set(targets.NAMES) | {"native"}


def test_every_target_is_in_the_table(repository: Path) -> None:
    modules = {path.stem for path in (repository / "fuzz" / "python").glob("*.py")}
    assert modules - {"__init__", "__main__", "targets"} == set(targets.NAMES)
    assert list(targets.NAMES) == sorted(targets.NAMES)
