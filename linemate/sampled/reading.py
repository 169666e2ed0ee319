"""Profiles that are read while a binary is judged.

Owns the thread.  What a reader refuses is raised where the profile is asked for, so that errors come in the order in
which things are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from pmu import read_samples
from sharing.model.errors import LinemateError
from sharing.model.samples import Samples
from sharing.sampled.thinning import MAX_JUDGED


class Profiles:
    """The profiles of one audit, each read once, in order; one that nobody announced is read when asked for."""

    def __init__(self, paths: Iterable[str]) -> None:
        # One thread: two that decode would only wait for each other.
        pool = ThreadPoolExecutor(1, "profiles")
        self._ahead: dict[str, Future[Samples]] = {path: pool.submit(_read, path) for path in dict.fromkeys(paths)}
        pool.shutdown(wait=False)

    def read(self, path: str) -> Samples:
        """As many samples as are judged.  Errors: those of ``pmu.read_samples``, and a profile without any."""
        ahead = self._ahead.get(path)
        return ahead.result() if ahead is not None else _read(path)


def _read(path: str) -> Samples:
    samples = read_samples(path, most=MAX_JUDGED)
    if not len(samples.samples):
        why = "what was recorded did not run meanwhile, or too short: record it again under a load"
        raise LinemateError(f"{path}: holds no samples: {why}")
    return samples
