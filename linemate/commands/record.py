"""``linemate record``: flags into options, what was recorded in a few lines on standard error."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from linemate.commands import common
from linemate.commands.groups import PLAIN, DocumentOptions, grouped
from reports.escape import visible
from sharing.model.plural import count

if TYPE_CHECKING:
    from linemate.recording.options import RecordOptions
    from sharing.model.recorded import Recording

DEFAULT_OUTPUT = "linemate.data"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventOptions:
    """What makes a sample."""

    event: str
    frequency: int | None
    period: int | None
    user_only: bool
    kernel_only: bool

    def refuse_contradictions(self) -> None:
        if self.frequency is not None and self.period is not None:
            raise click.UsageError("--frequency or --period, not both")
        if self.user_only and self.kernel_only:
            raise click.UsageError("--user or --kernel, not both; without either, both are recorded")

    @property
    def modes(self) -> str:
        return "user" if self.user_only else "kernel" if self.kernel_only else "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How often COMMAND runs, and what is noted besides."""

    solo: bool
    ignore_affinity: bool
    heap: bool
    stacks: bool
    trial: bool
    runs: int
    metric: str
    overhead: bool
    pairs: int


@click.command("record", short_help="Record a profile of COMMAND, of a process or of the machine.")
@click.argument("command_line", nargs=-1, metavar="[-- COMMAND…]", type=click.UNPROCESSED)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help=f"The profile, with FILE.json beside it [default: {DEFAULT_OUTPUT}]; of --counters the counts.",
)
@click.option(
    "--pid",
    type=click.IntRange(1),
    metavar="PID",
    help="Record this process and those that came from it, threads to come as well.",
)
@click.option(
    "--duration",
    type=click.FloatRange(0, min_open=True),
    metavar="S",
    help="Stop after S seconds; without --pid: of the whole machine.",
)
@click.option("--event", default="", metavar="EVENT", help="An event that doctor lists, or one of perf's own.")
@click.option("--frequency", type=click.IntRange(1, 100_000), metavar="HZ", help="Samples a second and processor.")
@click.option("--period", type=click.IntRange(1), metavar="N", help="One sample every N events, instead.")
@click.option("--user", "user_only", is_flag=True, help="Only what runs in user mode.")
@click.option("--kernel", "kernel_only", is_flag=True, help="Only what runs in the kernel.")
@click.option(
    "--solo", is_flag=True, help="Run COMMAND again on one processor, into FILE.solo: nothing is shared there."
)
@click.option(
    "--ignore-affinity",
    is_flag=True,
    help="With --solo: stay there though COMMAND binds its threads by number, which is answered as done.",
)
@click.option(
    "--heap", is_flag=True, help="Note where COMMAND or PID allocates memory, into FILE.heap, so that audit names it."
)
@click.option(
    "--stacks",
    is_flag=True,
    help="Copy the top of each sampled stack: places accesses of code that was built without optimization.",
)
@click.option(
    "--trial", is_flag=True, help="Run COMMAND once before, and sample so often that a run gives enough samples."
)
@click.option("--runs", type=click.IntRange(1, 100), default=1, show_default=True, help="Repetitions of each run.")
@click.option("--metric", default="", metavar="NAME", help="A word of COMMAND's output that a number follows.")
@click.option("--overhead", is_flag=True, help="Measure first what recording costs COMMAND, in alternating pairs.")
@click.option("--pairs", type=click.IntRange(1, 1000), default=9, show_default=True, help="Pairs for --overhead.")
@click.option("--counters", is_flag=True, help="Do not sample: count generic events of each thread of COMMAND.")
@click.option("--format", "format_name", type=click.Choice(["text", "json"]), help="Format of --counters.")
@common.quiet_option("Only errors and warnings.")
@grouped(document=DocumentOptions, event=EventOptions, runs=RunOptions)
def command(
    command_line: tuple[str, ...],
    document: DocumentOptions,
    event: EventOptions,
    runs: RunOptions,
    pid: int | None,
    duration: float | None,
    counters: bool,
) -> int:
    """Record with the best event that this machine has, and say what that can and cannot show.

    COMMAND runs as it would without; what it exits with is reported.  Ctrl-C ends a recording and keeps it.
    """
    from linemate.recording.options import RecordOptions
    from linemate.recording.run import record

    event.refuse_contradictions()
    options = RecordOptions(
        output=Path(document.output or DEFAULT_OUTPUT),
        command=command_line,
        pid=pid,
        duration_s=duration,
        event=event.event,
        frequency_hz=event.frequency or 0,
        period=event.period or 0,
        modes=event.modes,
        solo=runs.solo,
        ignore_affinity=runs.ignore_affinity,
        heap=runs.heap,
        stacks=runs.stacks,
        trial=runs.trial,
        runs=runs.runs,
        metric=runs.metric,
        overhead_pairs=runs.pairs if runs.overhead else 0,
    )
    _check_target(options)
    if counters:
        if options != RecordOptions(output=options.output, command=command_line):
            raise click.UsageError("--counters takes no samples: only -o, --format and -q go with it")
        return _count(command_line, document)
    if document.format_name is not None:
        raise click.UsageError("--format goes with --counters; a profile has one format")

    def say(line: str) -> None:
        if not document.quiet:
            click.echo(f"linemate: {visible(line)}", err=True)

    recording = record(options, say, lambda text: click.echo(text, nl=False))
    for line in _summary(options.output, recording):
        say(line)
    for line in _warnings(recording):
        click.echo(f"linemate: warning: {visible(line)}", err=True)
    return common.EXIT_INCOMPLETE if _idle(recording) else common.EXIT_CLEAN


def _idle(recording: Recording) -> bool:
    """Whether what ran already was recorded and did nothing: such a profile says nothing."""
    return not recording.command and not any(profile.samples for profile in recording.profiles)


def _check_target(options: RecordOptions) -> None:
    """Raises UsageError unless there is one thing to record, and the options go with it."""
    running = options.pid is not None or options.duration_s is not None
    if options.command and running:
        raise click.UsageError("COMMAND or --pid and --duration: a command is recorded until it ends")
    if not options.command and not running:
        raise click.UsageError("what to record: -- COMMAND, --pid PID, or --duration S for the whole machine")
    if options.ignore_affinity and not options.solo:
        raise click.UsageError("--ignore-affinity goes with --solo: elsewhere threads are bound as COMMAND wants")
    if options.trial and (options.frequency_hz or options.period):
        raise click.UsageError("--trial finds how often to sample: give no --frequency and no --period with it")
    several = options.solo or options.runs > 1 or options.metric or options.overhead_pairs or options.trial
    if not options.command and several:
        raise click.UsageError("--solo, --runs, --metric, --trial and --overhead need a COMMAND to run")
    if options.heap and options.target == "machine":
        raise click.UsageError("--heap needs a COMMAND or --pid: whose allocations are to be noted")


def _count(command_line: tuple[str, ...], document: DocumentOptions) -> int:
    """Counts go where output goes; the command's own output is left alone."""
    import os

    from linemate.counterreport import check_new, render_json, render_text
    from linemate.output import write_text
    from pmu.counters import count_command
    from pmu.machine import read_machine
    from pmu.workload import find_command

    find_command(command_line)
    document.check(PLAIN, ())
    check_new(document.output)
    counted = count_command(command_line, read_machine().cpus or tuple(range(os.cpu_count() or 1)))
    text = render_json(counted, command_line) if document.as_json else render_text(counted)
    write_text(text, document.output, ())
    if counted.ended.status:
        click.echo(f"linemate: warning: the command {status_words(counted.ended.status)}", err=True)
    return common.EXIT_CLEAN


def _summary(output: Path, recording: Recording) -> list[str]:
    from linemate.sampled.notes import few_samples
    from sharing.judge.numbers import MIN_TIMED
    from sharing.sampled.numbers import CROWDED

    lines = []
    for profile in recording.profiles:
        where = output.with_name(profile.file)
        on = f" on processor{'s' if len(profile.cpus_seen) != 1 else ''} {', '.join(map(str, profile.cpus_seen))}"
        seconds = recording.runs[profile.run].wall_s if recording.runs else recording.wall_s
        lines.append(f"{where}: {count(profile.samples, 'sample')} in {seconds:.2f} s{on if profile.cpus_seen else ''}")
        if 0 < profile.samples < MIN_TIMED and profile.level == "spread":
            lines.append(few_samples(profile.samples, recording.event.frequency_hz))
        if recording.runs and (run := recording.runs[profile.run]).processors_left < CROWDED < len(run.cpus):
            lines.append(
                f"other programs left {max(run.processors_left, 0):.1f} of {len(run.cpus)} processors: turns that "
                "threads took may be the scheduler's, and clear nothing"
            )
    if recording.interrupted:
        lines.append("stopped by an interrupt; what was recorded until then is kept")
    return lines


def _warnings(recording: Recording) -> list[str]:
    lines = []
    for profile in recording.profiles:
        if not profile.samples and _idle(recording):
            who = "the machine" if recording.pid is None else f"process {recording.pid}"
            lines.append(
                f"{profile.file}: no sample: {who} did not run in these {recording.wall_s:.2f} s; drive a load while "
                "it is recorded, and for longer (--duration SECONDS)"
            )
        elif not profile.samples:
            lines.append(f"{profile.file}: no sample: too short a run, or all of its time was spent waiting")
        if profile.lost_samples:
            total = profile.samples + profile.lost_samples
            lines.append(f"{profile.file}: {profile.lost_samples:,} of {total:,} samples were lost; lower --frequency")
        if profile.level == "solo" and len(profile.cpus_seen) > 1:
            lines.append(
                f"{profile.file}: the command left its processor: this is not a run without sharing "
                "(--ignore-affinity keeps it there)"
            )
    for number, run in enumerate(recording.runs, 1):
        if run.status:
            which = f"run {number} ({run.level})" if len(recording.runs) > 1 else "the command"
            lines.append(f"{which} {status_words(run.status)}")
    return lines


def status_words(status: int) -> str:
    """An exit code, or minus a signal's number."""
    import signal

    if status >= 0:
        return f"exited with {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
