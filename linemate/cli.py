"""The command line: flags in, exit code out.

Owns option parsing, the choice of output and the mapping of errors to exit codes.  Analysis is the pipeline's,
rendering the reporters'; both are imported inside the commands, so that ``--help`` stays instant.

Exit codes: 0 clean, 1 findings at or above ``--fail-on``, 2 bad usage or unreadable input, 3 the analysis is
incomplete (whatever it found), 130 interrupted, 141 the reader of our output went away, 70 a defect of linemate.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

import linemate
from linemate.config import LINE_SIZES, find_config, load_config
from linemate.output import ReaderGone, check_output, progress, terminal_width, wants_color, write_text
from reports import EMITTERS, RenderOptions
from reports.escape import visible
from reports.options import DEFAULT_WIDTH
from sharing.model.errors import LinemateError
from sharing.model.finding import Confidence, Report, Severity
from sharing.model.project import ProjectConfig
from sharing.model.rule import RuleInfo

if TYPE_CHECKING:
    from linemate.options import AuditOptions

EXIT_CLEAN = 0
EXIT_FINDINGS = 1
EXIT_USAGE = 2
EXIT_INCOMPLETE = 3
EXIT_DEFECT = 70
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141

Command = TypeVar("Command", bound=Callable[..., Any])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; errors end as one line on standard error."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(
            args=None if arguments is None else list(arguments), prog_name="linemate", standalone_mode=False
        )
        return code if isinstance(code, int) else EXIT_CLEAN
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (KeyboardInterrupt, click.Abort):
        return EXIT_INTERRUPTED
    except ReaderGone:
        return EXIT_BROKEN_PIPE
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        return _error(f"{error.format_message().rstrip('.')}{hint}", EXIT_USAGE)
    except LinemateError as error:
        return _error(str(error), EXIT_USAGE)
    except OSError as error:
        return _error(f"{error.filename}: {error.strerror}" if error.filename else str(error), EXIT_USAGE)
    except MemoryError:
        return _error("out of memory", EXIT_USAGE)
    except Exception as error:
        if os.environ.get("LINEMATE_DEBUG") == "1":
            raise
        kind = type(error).__name__
        return _error(f"internal error, please report it: {kind}: {error} (LINEMATE_DEBUG=1 shows where)", EXIT_DEFECT)


def _error(message: str, code: int) -> int:
    print(f"linemate: error: {visible(message)}", file=sys.stderr)
    return code


@click.group(no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(linemate.__version__, prog_name="linemate", message="%(prog)s %(version)s")
def cli() -> None:
    """Find the variables that share a cache line and should not."""


def _line_size(flag: str | None, project: ProjectConfig) -> int | None:
    """Bytes per line: the flag, else the project's; None, also for ``auto``, leaves it to the architecture."""
    if flag is None:
        return project.project.line_size
    return None if flag == "auto" else int(flag)


def shared_options(command: Command) -> Command:
    """The options of every command that reads a binary."""
    for option in (
        click.option("-q", "--quiet", is_flag=True, help="No progress; in text, findings without the summary."),
        click.option("-o", "--output", metavar="FILE", help="Write there instead of standard output."),
        click.option(
            "--config", metavar="FILE", help="Project file; default: linemate.toml here or in a folder above."
        ),
        click.option(
            "--debug-file", metavar="FILE", help="Where the debug information is, if not in the usual places."
        ),
        click.option(
            "--line-size",
            type=click.Choice([*map(str, LINE_SIZES), "auto"]),
            help="Bytes per line; auto is the project's or the architecture's.",
        ),
    ):
        command = option(command)
    return command


def _severities() -> click.Choice[str]:
    return click.Choice([severity.value for severity in Severity])


@cli.command()
@click.argument("binary")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(list(EMITTERS)),
    help="How to show it; default: by the ending of --output, else text.",
)
@click.option(
    "--fail-on",
    type=click.Choice([*(severity.value for severity in Severity), "never"]),
    help="Exit with 1 from this severity on.  [default: high]",
)
@click.option("--min-severity", type=_severities(), help="Show from this severity on.  [default: low, or --fail-on]")
@click.option(
    "--min-confidence",
    type=click.Choice([confidence.name.lower() for confidence in Confidence]),
    default=Confidence.LAYOUT.name.lower(),
    show_default=True,
    help="Show from this confidence on.",
)
@click.option("--rule", "rules", multiple=True, metavar="ID", help="Only this rule; may be repeated.")
@click.option("--symbol", "symbols", multiple=True, metavar="GLOB", help="Only findings with such a name; repeatable.")
@click.option("--samples", multiple=True, hidden=True)
@click.option("--facts", multiple=True, hidden=True)
@shared_options
def audit(
    binary: str,
    format_name: str | None,
    fail_on: str | None,
    min_severity: str | None,
    min_confidence: str,
    rules: tuple[str, ...],
    symbols: tuple[str, ...],
    samples: tuple[str, ...],
    facts: tuple[str, ...],
    line_size: str | None,
    debug_file: str | None,
    config: str | None,
    output: str | None,
    quiet: bool,
) -> int:
    """Judge every global of BINARY by the cache line that it is on."""
    from linemate.options import AuditOptions

    for flag, given in (("--samples", samples), ("--facts", facts)):
        if given:
            raise LinemateError(f"{flag} is not supported by this version")
    project = read_project(config)
    limit = _fail_limit(fail_on, project)
    known = rule_infos()
    for rule in rules:
        _rule_by_id(known, rule)
    options = AuditOptions(
        binary=binary,
        line_size=_line_size(line_size, project),
        min_confidence=Confidence[min_confidence.upper()],
        min_severity=_shown_from(min_severity, fail_on, limit),
        rules=rules,
        symbols=symbols,
        fail_on=limit,
        debug_file=debug_file,
        project=project,
    )
    emitter = EMITTERS[format_name or _format_by_suffix(output)]
    inputs = (binary, debug_file, project.path or None)
    check_output(output, inputs)
    from linemate.pipeline import audit as run_audit

    with progress(f"linemate: reading {visible(binary)}", quiet=quiet):
        report = run_audit(options)
    write_text(emitter.render(report, render_options(output, quiet, known)), output, inputs)
    return exit_code(report, options)


def read_project(config: str | None) -> ProjectConfig:
    """The project file that was named, else the nearest above the current folder, else none."""
    path = Path(config) if config else find_config(Path.cwd())
    return load_config(path) if path else ProjectConfig()


def _fail_limit(fail_on: str | None, project: ProjectConfig) -> Severity | None:
    if fail_on == "never":
        return None
    return Severity(fail_on) if fail_on else project.project.fail_on or Severity.HIGH


def _shown_from(min_severity: str | None, fail_on: str | None, limit: Severity | None) -> Severity:
    """What fails the run is shown: asking to fail on notes shows notes, unless --min-severity says otherwise."""
    if min_severity:
        return Severity(min_severity)
    if fail_on and limit is not None:
        return min(Severity.LOW, limit, key=lambda severity: severity.rank)
    return Severity.LOW


def _format_by_suffix(output: str | None) -> str:
    suffix = Path(output).suffix if output else ""
    return next((emitter.name for emitter in EMITTERS.values() if emitter.suffix == suffix), "text")


def rule_infos() -> tuple[RuleInfo, ...]:
    """What reporters and the rules command may know of each rule, in the order of the registry."""
    from sharing.rules import RULES

    return tuple(rule.info() for rule in RULES)


def _rule_by_id(known: Sequence[RuleInfo], wanted: str) -> RuleInfo:
    for info in known:
        if info.id == wanted:
            return info
    import difflib

    ids = [info.id for info in known]
    nearest = difflib.get_close_matches(wanted, ids, n=1)
    hint = f"did you mean '{nearest[0]}'?" if nearest else f"there are: {', '.join(ids)}"
    raise LinemateError(f"no rule '{wanted}': {hint}")


def render_options(output: str | None, quiet: bool, rules: tuple[RuleInfo, ...] = ()) -> RenderOptions:
    """Colour and width of where the text goes."""
    to_stdout = output is None or output == "-"
    return RenderOptions(
        color=to_stdout and wants_color(sys.stdout),
        width=terminal_width(sys.stdout, DEFAULT_WIDTH) if to_stdout else DEFAULT_WIDTH,
        summary=not quiet,
        rules=rules,
        version=linemate.__version__,
        source_root=str(Path.cwd()),
    )


def exit_code(report: Report, options: AuditOptions) -> int:
    """3 for an incomplete analysis before 1 for findings: a half-read input proves nothing either way."""
    if report.incomplete:
        return EXIT_INCOMPLETE
    limit = options.fail_on
    if limit is not None and any(finding.severity.rank >= limit.rank for finding in report.findings):
        return EXIT_FINDINGS
    return EXIT_CLEAN


@cli.command("lines", short_help="Show the lines of BINARY around symbols, byte by byte.")
@click.argument("binary")
@click.argument("symbols", nargs=-1, metavar="[SYMBOL|ADDRESS]...")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["text", "json"]),
    help="Default: by the suffix of --output.",
)
@click.option("--context", type=click.IntRange(0, 1024), default=1, show_default=True, help="Lines shown on each side.")
@click.option(
    "--max-lines", type=click.IntRange(1, 65536), default=64, show_default=True, help="Lines shown per symbol."
)
@shared_options
def lines_command(
    binary: str,
    symbols: tuple[str, ...],
    format_name: str | None,
    context: int,
    max_lines: int,
    line_size: str | None,
    debug_file: str | None,
    config: str | None,
    output: str | None,
    quiet: bool,
) -> int:
    """Show the lines of BINARY around each SYMBOL or ADDRESS, byte by byte.

    SYMBOL may go on into the variable: server.lruclock, slots[3].count.  Without one: how crowded the writable
    sections are.
    """
    from linemate.lines import LinesOptions, lines

    project = read_project(config)
    inputs = (binary, debug_file, project.path or None)
    check_output(output, inputs)
    options = LinesOptions(binary, symbols, _line_size(line_size, project), context, max_lines, debug_file, project)
    with progress(f"linemate: reading {visible(binary)}", quiet=quiet):
        report = lines(options)
    if (format_name or _format_by_suffix(output)) == "json":
        from reports.jsontext import encode

        text = encode(report)
    else:
        from reports.layout import render

        text = render(report, render_options(output, quiet))
    write_text(text, output, inputs)
    return EXIT_CLEAN


@cli.command("rules")
@click.argument("rule_id", required=False, metavar="[ID]")
def rules_command(rule_id: str | None) -> int:
    """List the rules, or explain the one named ID."""
    known = rule_infos()
    if rule_id is not None:
        info = _rule_by_id(known, rule_id)
        write_text(f"{info.id}: {info.name} (usually {info.severity})\n\n{info.help_markdown.strip()}\n", None, ())
        return EXIT_CLEAN
    width = max(len(info.id) for info in known)
    level = max(len(info.severity.value) for info in known)
    rows = [f"{info.id:<{width}}  {info.severity.value:<{level}}  {info.summary}\n" for info in known]
    write_text("".join(rows), None, ())
    return EXIT_CLEAN
