"""How a reader measures a build: commands that start it, or that attach to it where it is a server.

Owns the commands of ``confirm`` and ``refute``.  A server ends when somebody stops it and works only while it is asked
for something: started by perf it would be measured idle, or not at all where it goes on in the background.
"""

from __future__ import annotations

from dataclasses import dataclass

MISSES = "L1-dcache-load-misses"
SECONDS = 30  # of a measurement of what runs


@dataclass(frozen=True, slots=True)
class Run:
    """``program`` is what a shell starts, or words; ``process`` a shell's word for a server that runs, else ""."""

    program: str
    process: str = ""
    kernel: bool = False  # or a module of one: it runs where it is booted, and nothing starts it

    def recorded(self, to: str = "") -> str:
        """A profile of where it spends its time, in the file ``to``."""
        if self.kernel:
            return f"perf record{f' -o {to}' if to else ''} -a -- sleep {SECONDS}"
        if not self.process:
            return f"perf record{f' -o {to}' if to else ''} -- {self.program}"
        return f"linemate record{f' -o {to}' if to else ''} --pid {self.process} --duration {SECONDS}"

    @property
    def report(self) -> str:
        """The command that shows a profile of ``recorded()``."""
        return "perf report -i linemate.data" if self.process else "perf report"

    @property
    def _shared_lines(self) -> str:
        if self.kernel:
            return f"perf c2c record -a -- sleep {SECONDS}"
        if self.process:
            return f"perf c2c record -p {self.process} -- sleep {SECONDS}"
        return f"perf c2c record -a -- {self.program}"

    def shared_lines(self, shown: str) -> tuple[str, ...]:
        """Which lines its threads take from each other, by perf c2c: ``shown`` is among them."""
        return self._shared_lines, f"perf c2c report --stdio: {shown}"

    @property
    def without_memory_events(self) -> str:
        """The same where no processor samples memory."""
        if self.kernel:
            return f"where linemate doctor finds no sampling of memory: linemate record --duration {SECONDS}"
        command = f"--pid {self.process} --duration {SECONDS}" if self.process else f"-- {self.program}"
        return f"where linemate doctor finds no sampling of memory: linemate record {command}"

    def counted(self, events: str) -> str:
        """Events of a run."""
        if self.kernel:
            return f"perf stat -a -e {events} -- sleep {SECONDS}"
        if self.process:
            return f"perf stat -e {events} -p {self.process} -- sleep {SECONDS}"
        return f"perf stat -e {events} -r 10 -- {self.program}"

    @property
    def timed(self) -> str:
        """How fast it is, with what spread."""
        return self.timed_as(self.program)

    def timed_as(self, command: str) -> str:
        """How fast it is, started by another command."""
        if self.kernel:
            return f"boot with {command}, and measure the same load"
        return f"measure {command} under the same load" if self.process else f"perf stat -r 10 -- {command}"


def recorded_both(old: Run, new: Run) -> tuple[str, ...]:
    """Profiles of both, one after the other: what runs already is to be replaced between."""
    first, second = old.recorded("old.data"), new.recorded("new.data")
    if new.kernel:
        return f"with the old build booted: {first}", f"with the new one booted, under the same load: {second}"
    if new.process:
        return f"while the old build runs: {first}", f"restart with the new build, under the same load: {second}"
    return first, second


def alternated(old: Run, new: Run) -> tuple[str, ...]:
    """Both measured in turns, so that drift of the machine is no difference."""
    return old.timed, f"{new.timed}, in turns with the old one: both are as fast as each other"


def processes(runs: tuple[Run, Run]) -> tuple[str, ...]:
    """Where both serve, what to attach to."""
    return tuple(run.process for run in runs) if all(run.process for run in runs) else ()


def said_of_servers(runs: tuple[Run, Run]) -> tuple[str, ...]:
    """Why commands attach, and what to write for a run that ends by itself."""
    if any(run.kernel for run in runs):
        return ("commands: they measure what is booted, so boot each build, under the same load, before its command",)
    if not any(run.process for run in runs):
        return ()
    return (
        "commands: the program waits for connections or goes on in the background, so commands attach to the one that "
        "runs, under its load (of several processes give one by its number); for a run that ends by itself, write "
        "-- COMMAND in the place of --pid and --duration, or of -p and sleep",
    )
