"""``linemate record``: flags into options, what was recorded in a few lines on standard error."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from linemate.commands import common
from reports.escape import visible

if TYPE_CHECKING:
    from sharing.model.recorded import Recording

DEFAULT_OUTPUT = "linemate.data"


@click.command("record", short_help="Record a profile of COMMAND, of a process or of the machine.")
@click.argument("command_line", nargs=-1, metavar="[-- COMMAND…]", type=click.UNPROCESSED)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default=DEFAULT_OUTPUT,
    show_default=True,
    help="The profile; FILE.json beside it.",
)
@click.option("--pid", type=click.IntRange(1), metavar="PID", help="Record this process, its threads to come as well.")
@click.option(
    "--duration",
    type=click.FloatRange(0, min_open=True),
    metavar="S",
    help="Stop after S seconds; without --pid: of the whole machine.",
)
@click.option("--event", default="", metavar="EVENT", help="A rung of the ladder (see doctor), or an event of perf's.")
@click.option("--frequency", type=click.IntRange(1, 100_000), metavar="HZ", help="Samples a second and processor.")
@click.option("--period", type=click.IntRange(1), metavar="N", help="One sample every N events, instead.")
@click.option("--user", "user_only", is_flag=True, help="Only what runs in user mode.")
@click.option("--kernel", "kernel_only", is_flag=True, help="Only what runs in the kernel.")
@click.option(
    "--solo", is_flag=True, help="Run COMMAND again on one processor, into FILE.solo: nothing is shared there."
)
@click.option("--runs", type=click.IntRange(1, 100), default=1, show_default=True, help="Repetitions of each run.")
@click.option("--metric", default="", metavar="NAME", help="A word of COMMAND's output that a number follows.")
@click.option("--overhead", is_flag=True, help="Measure first what recording costs COMMAND, in alternating pairs.")
@click.option("--pairs", type=click.IntRange(1, 100), default=5, show_default=True, help="Pairs for --overhead.")
@click.option("-q", "--quiet", is_flag=True, help="Only errors and warnings.")
def command(
    command_line: tuple[str, ...],
    output: str,
    pid: int | None,
    duration: float | None,
    event: str,
    frequency: int | None,
    period: int | None,
    user_only: bool,
    kernel_only: bool,
    solo: bool,
    runs: int,
    metric: str,
    overhead: bool,
    pairs: int,
    quiet: bool,
) -> int:
    """Record with the best event that this machine has, and say what that can and cannot show.

    COMMAND runs as it would without; what it exits with is reported.  Ctrl-C ends a recording and keeps it.
    """
    from linemate.recording import RecordOptions, record

    _check_usage(command_line, pid, duration, frequency, period, user_only and kernel_only)
    if not command_line and (solo or runs > 1 or metric or overhead):
        raise click.UsageError("--solo, --runs, --metric and --overhead need a COMMAND to run")
    options = RecordOptions(
        output=Path(output),
        command=command_line,
        pid=pid,
        duration_s=duration,
        event=event,
        frequency_hz=frequency or 0,
        period=period or 0,
        modes="user" if user_only else "kernel" if kernel_only else "both",
        solo=solo,
        runs=runs,
        metric=metric,
        overhead_pairs=pairs if overhead else 0,
    )

    def say(line: str) -> None:
        if not quiet:
            click.echo(f"linemate: {visible(line)}", err=True)

    recording = record(options, say, lambda text: click.echo(text, nl=False))
    for line in _summary(options.output, recording):
        say(line)
    for line in _warnings(recording):
        click.echo(f"linemate: warning: {visible(line)}", err=True)
    return common.EXIT_CLEAN


def _check_usage(
    command_line: tuple[str, ...],
    pid: int | None,
    duration: float | None,
    frequency: int | None,
    period: int | None,
    both_modes: bool,
) -> None:
    if command_line and (pid is not None or duration is not None):
        raise click.UsageError("COMMAND or --pid and --duration: a command is recorded until it ends")
    if not command_line and pid is None and duration is None:
        raise click.UsageError("what to record: -- COMMAND, --pid PID, or --duration S for the whole machine")
    if frequency is not None and period is not None:
        raise click.UsageError("--frequency or --period, not both")
    if both_modes:
        raise click.UsageError("--user or --kernel, not both; without either, both are recorded")


def _summary(output: Path, recording: Recording) -> list[str]:
    lines = []
    for profile in recording.profiles:
        where = output.with_name(profile.file)
        on = f"processor{'s' if len(profile.cpus_seen) != 1 else ''} {', '.join(map(str, profile.cpus_seen)) or 'none'}"
        seconds = recording.runs[profile.run].wall_s if recording.runs else recording.wall_s
        lines.append(f"{where}: {profile.samples:,} samples in {seconds:.2f} s on {on}")
    if recording.interrupted:
        lines.append("stopped by an interrupt; what was recorded until then is kept")
    return lines


def _warnings(recording: Recording) -> list[str]:
    lines = []
    for profile in recording.profiles:
        if not profile.samples:
            lines.append(f"{profile.file}: no sample: too short a run, or all of its time was spent waiting")
        if profile.lost_samples:
            total = profile.samples + profile.lost_samples
            lines.append(f"{profile.file}: {profile.lost_samples:,} of {total:,} samples were lost; lower --frequency")
        if profile.level == "solo" and len(profile.cpus_seen) > 1:
            lines.append(f"{profile.file}: the command left its processor: this is not a run without sharing")
    for number, run in enumerate(recording.runs, 1):
        if run.status:
            which = f"run {number} ({run.level})" if len(recording.runs) > 1 else "the command"
            how = f"exited with {run.status}" if run.status > 0 else f"was ended by {signal_name(-run.status)}"
            lines.append(f"{which} {how}")
    return lines


def signal_name(number: int) -> str:
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
