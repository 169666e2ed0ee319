"""The benchmark of many builds: rounds in which all take a turn, in an order that no drift can follow.

Owns the plan of a round and what is done about a disturbed run.  A round runs every build at every level once; the
order is drawn, and the next round runs it backwards, so that a machine that slows down slows all builds alike.
"""

from __future__ import annotations

import os
import random
import secrets
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from linemate.fixing.bench import figure_of
from linemate.fixing.child import run
from linemate.history.builds import Builds, Built
from linemate.history.store import MeasuredRow, Store
from linemate.turns import DISTURBED_SHARE, background_share
from sharing.model.errors import LinemateError

MOST_TRIES = 3  # of one run, where other programs take the processors
SECONDS = "seconds"


@dataclass(frozen=True, slots=True)
class Plan:
    """``metric`` "" takes wall seconds.  ``levels`` are put in place of {level}; none runs the command as it is."""

    command: str
    metric: str
    levels: tuple[str, ...]
    rounds: int
    timeout_s: float

    @property
    def conditions(self) -> tuple[str, ...]:
        return self.levels or ("",)


@dataclass
class Bench:
    """Measures builds and keeps every run in the store at once.  ``failed`` are builds (keys) with what they said."""

    store: Store
    builds: Builds
    plan: Plan
    tick: Callable[[str], None] = lambda _: None
    failed: dict[str, str] = field(default_factory=dict)
    values: dict[tuple[str, str], dict[int, MeasuredRow]] = field(default_factory=dict)
    _warm: set[str] = field(default_factory=set)
    _session: str = field(default_factory=lambda: secrets.token_hex(8))

    def __post_init__(self) -> None:
        self._name = f"{self.plan.command}\n{machine()}"
        for row in self.store.measured(self._name, self.plan.metric):
            self.values.setdefault((row.key, row.level), {})[row.round] = row

    def missing(self, builds: Sequence[Built]) -> int:
        """Runs that the store does not have yet."""
        keys = {b.row.key for b in builds}
        have = sum(
            r < self.plan.rounds
            for key in keys
            for level in self.plan.conditions
            for r in self.values.get((key, level), {})
        )
        return len(keys) * len(self.plan.conditions) * self.plan.rounds - have

    def complete(self, builds: Sequence[Built]) -> None:
        """All rounds of all builds, those aside that are in the store already."""
        for number in range(self.plan.rounds):
            self._round(builds, {b.row.key: number for b in builds}, number)

    def again(self, builds: Sequence[Built], rounds: int) -> dict[tuple[str, str], list[float]]:
        """New rounds of some builds among themselves; the values of these rounds alone, by build and level."""
        out: dict[tuple[str, str], list[float]] = {}
        for turn in range(rounds):
            numbers = {
                b.row.key: 1
                + max(
                    (r for level in self.plan.conditions for r in self.values.get((b.row.key, level), {})), default=-1
                )
                for b in builds
            }
            self._round(builds, numbers, turn)
            for built in builds:
                for level in self.plan.conditions:
                    row = self.values.get((built.row.key, level), {}).get(numbers[built.row.key])
                    if row is not None:
                        out.setdefault((built.row.key, level), []).append(row.value)
        return out

    def _round(self, builds: Sequence[Built], numbers: dict[str, int], turn: int) -> None:
        for level in self.plan.conditions:
            for built in self._order(builds, turn):
                key = built.row.key
                known = self.values.setdefault((key, level), {})
                if key in self.failed or numbers[key] in known:
                    continue
                try:
                    row = self._measure(built, level, numbers[key])
                except LinemateError as error:
                    self.failed[key] = str(error)
                    continue
                self.store.put_measured(self._name, self.plan.metric, row)
                known[row.round] = row
                self.tick(built.commit.name)

    @staticmethod
    def _order(builds: Sequence[Built], turn: int) -> list[Built]:
        """Drawn for every second round, and backwards in the one behind it."""
        order = list({b.row.key: b for b in builds}.values())
        random.Random(turn // 2).shuffle(order)
        return order if turn % 2 == 0 else order[::-1]

    def _measure(self, built: Built, level: str, number: int) -> MeasuredRow:
        built = self.builds.ready(built, tree=True)
        if built.row.key not in self._warm:
            self._figure(built, level)  # fills the caches, for each the same
            self._warm.add(built.row.key)
        tries: list[tuple[float, float]] = []
        while not tries or (min(tries)[0] > DISTURBED_SHARE and len(tries) < MOST_TRIES):
            tries.append(self._figure(built, level))
        share, value = min(tries)
        return MeasuredRow(built.row.key, level, number, value, share > DISTURBED_SHARE, len(tries) - 1, self._session)

    def _figure(self, built: Built, level: str) -> tuple[float, float]:
        """(share of a processor that background load took, the figure)."""
        assert built.tree is not None
        program = built.tree / built.row.binary
        command = self.plan.command.replace("{level}", level).replace("{binary}", shlex.quote(str(program)))
        output = ""
        try:
            done = run(command, built.tree, self.plan.timeout_s, priority=True)
            output = done.output
            value = figure_of(done, command, self.plan.metric)
        except LinemateError as error:
            self.builds.put_bench_log(built.row.key, f"{output}\nlinemate: {error}\n")
            raise
        return background_share(done.background_s, done.wall_s), value

    def of(self, built: Built, level: str) -> tuple[float, ...]:
        """All values of a build at a level, round after round."""
        found = self.values.get((built.row.key, level), {})
        return tuple(found[r].value for r in sorted(found))

    def notes(self, builds: Sequence[Built], *, earlier: bool = True) -> tuple[str, ...]:
        """What background load did to the runs, those of ``earlier`` runs of linemate included."""
        keys = {b.row.key for b in builds}
        rows = [row for (key, _), rows in self.values.items() if key in keys for row in rows.values()]
        rows = [row for row in rows if earlier or row.session == self._session]
        sessions = len({row.session for row in rows})
        repeated, disturbed = sum(r.repeated for r in rows), sum(r.disturbed for r in rows)
        out = []
        if sessions > 1:
            out.append(
                f"the figures are of {sessions} runs of linemate: if the machine changed between them, builds that "
                "only one of them measured may seem to step; more --rounds measure all of them together again"
            )
        if repeated:
            out.append(f"{repeated} of {len(rows) + repeated} runs left out: background load; measured again")
        if disturbed:
            out.append(
                f"{disturbed} of {len(rows)} runs were disturbed by background load and count all the same: better "
                "measured on a quiet machine"
            )
        return tuple(out)


def machine() -> str:
    """Which machine measures: figures of two of them do not mix."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    model = next((line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")), "")
    return f"{os.uname().nodename}, {model or os.uname().machine}, {os.cpu_count()} processors"
