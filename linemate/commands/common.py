"""What several commands share: options, the project file, where the report goes, the exit code.

Owns the meaning of common flags, so that they mean the same everywhere.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from linemate.config import LINE_SIZES, find_config, load_config
from linemate.output import terminal_width, wants_color, write_text
from linemate.version import HOMEPAGE, __version__
from reports import EMITTERS, RenderOptions
from reports.emitters import Document, Emitter, by_ending
from reports.escape import visible
from reports.options import DEFAULT_TOP, DEFAULT_WIDTH
from sharing.model.errors import LinemateError
from sharing.model.finding import Confidence, Report, Severity
from sharing.model.memorymap import MemoryMap
from sharing.model.project import ProjectConfig
from sharing.model.rule import RuleInfo

PLAIN = {name: EMITTERS[name] for name in ("text", "json")}  # of commands that have no other
EXIT_CLEAN = 0
EXIT_FINDINGS = 1
EXIT_INCOMPLETE = 3
NO_PROJECT = ProjectConfig()

Command = TypeVar("Command", bound=Callable[..., Any])


def _apply(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    for option in options:
        command = option(command)
    return command


def output_option(command: Command) -> Command:
    """Where the document goes."""
    return click.option("-o", "--output", metavar="FILE", help="Write there instead of standard output.")(command)


def quiet_option(spares: str) -> Callable[[Command], Command]:
    """Less is said; ``spares`` is what."""
    return click.option("-q", "--quiet", is_flag=True, help=spares)


def fail_option(meaning: str) -> Callable[[Command], Command]:
    """The severity that makes the exit code 1; ``fail_limit`` reads it."""
    choices = [*(severity.value for severity in Severity), "never"]
    return click.option("--fail-on", type=click.Choice(choices), help=f"{meaning}  [default: high]")


def config_option(command: Command) -> Command:
    """The project file."""
    meaning = "Project file; default: linemate.toml here or in a folder above."
    return click.option("--config", metavar="FILE", help=meaning)(command)


def database_option(command: Command) -> Command:
    """How the sources are compiled."""
    meaning = "Folder with compile_commands.json, or that file; default: here, in build, or above."
    return click.option("-p", "database", metavar="DIR", help=meaning)(command)


def binary_option(command: Command) -> Command:
    """What the sources were linked to."""
    meaning = "The linked program: its addresses instead of a prediction."
    return click.option("--binary", metavar="FILE", help=meaning)(command)


def common_options(command: Command) -> Command:
    """The options of every command that analyses something."""
    return _apply(
        command,
        (
            quiet_option("No progress; in text, findings without the summary."),
            output_option,
            config_option,
            click.option(
                "--line-size",
                type=click.Choice([*map(str, LINE_SIZES), "auto"]),
                help="Bytes per line; auto is the project's or the architecture's.",
            ),
        ),
    )


def debug_option(command: Command) -> Command:
    """Where a binary's debug information is."""
    meaning = "Where the debug information is, if not in the usual places."
    return click.option("--debug-file", metavar="FILE", help=meaning)(command)


def threads_option(command: Command) -> Command:
    """What holds where no start of a thread is seen."""
    meaning = "If no thread start is found, let exported and address-taken functions run on several threads."
    return click.option("--assume-threads", is_flag=True, help=meaning)(command)


def finding_options(*other_formats: str) -> Callable[[Command], Command]:
    """The options of every command that reports findings: format, limits and filters."""
    severities = [severity.value for severity in Severity]
    options = (
        click.option(
            "--symbol",
            "symbols",
            multiple=True,
            metavar="GLOB",
            help="Only findings with such a name; repeatable.",
        ),
        click.option("--rule", "rules", multiple=True, metavar="ID", help="Only this rule; may be repeated."),
        click.option(
            "--min-confidence",
            type=click.Choice([confidence.name.lower() for confidence in Confidence]),
            default=Confidence.LAYOUT.name.lower(),
            show_default=True,
            help="Show from this confidence on.",
        ),
        click.option(
            "--min-severity",
            type=click.Choice(severities),
            help="Show from this severity on.  [default: low, or --fail-on]",
        ),
        fail_option("Exit with 1 from this severity on."),
        format_option(EMITTERS, *other_formats),
    )
    return lambda command: _apply(command, options)


def brevity_options(command: Command) -> Command:
    """How much of each finding text has."""
    return _apply(
        command,
        (
            click.option("--details", is_flag=True, help="In text, all evidence of every finding."),
            click.option(
                "--top",
                type=click.IntRange(0, 1000),
                default=DEFAULT_TOP,
                show_default=True,
                metavar="N",
                help="In text, so many lines of memory have more than a row of the table.",
            ),
        ),
    )


def format_option(emitters: Mapping[str, Emitter[Document]], *others: str) -> Callable[[Command], Command]:
    """The choice of one of a document's formats, or of ``others`` that are no document."""
    return click.option(
        "--format",
        "format_name",
        type=click.Choice([*emitters, *others]),
        help="How to show it; default: by the ending of --output, else text.",
    )


def say(text: str) -> None:
    """A line about the run itself, to standard error."""
    print(f"linemate: {visible(text)}", file=sys.stderr)


def line_size_of(flag: str | None, project: ProjectConfig) -> int | None:
    """Bytes per line: the flag, else the project's; None, also for ``auto``, leaves it to the architecture."""
    if flag is None:
        return project.project.line_size
    return None if flag == "auto" else int(flag)


def read_project(config: str | None) -> ProjectConfig:
    """The project file that was named, else the nearest above the current folder, else none."""
    path = Path(config) if config else find_config(Path.cwd())
    return load_config(path) if path else ProjectConfig()


def fail_limit(fail_on: str | None, project: ProjectConfig = NO_PROJECT) -> Severity | None:
    """What --fail-on says, else the project; None where nothing fails the run."""
    if fail_on == "never":
        return None
    return Severity(fail_on) if fail_on else project.project.fail_on or Severity.HIGH


def shown_from(min_severity: str | None, fail_on: str | None, limit: Severity | None) -> Severity:
    """What fails the run is shown: asking to fail on notes shows notes, unless --min-severity says otherwise."""
    if min_severity:
        return Severity(min_severity)
    if fail_on and limit is not None:
        return min(Severity.LOW, limit, key=lambda severity: severity.rank)
    return Severity.LOW


def wants_json(format_name: str | None, output: str | None) -> bool:
    """Of a command that has text and JSON: whether the option, or else the ending of ``output``, says JSON."""
    return format_of(PLAIN, format_name, output) == "json"


def format_of(emitters: Mapping[str, Emitter[Document]], format_name: str | None, output: str | None) -> str:
    """The format that was asked for.  Raises LinemateError where the ending of ``output`` names none of them.

    Called before the long work too.
    """
    return format_name or by_ending(emitters, output)


def rule_infos() -> tuple[RuleInfo, ...]:
    """What reporters and the rules command may know of each rule, in the order of the registry."""
    from linemate.pairguard import RULE
    from sharing.rules import RULES

    return (*(rule.info() for rule in RULES), RULE)


def rule_by_id(known: Sequence[RuleInfo], wanted: str) -> RuleInfo:
    for info in known:
        if info.id == wanted:
            return info
    import difflib

    ids = [info.id for info in known]
    nearest = difflib.get_close_matches(wanted, ids, n=1)
    hint = f"did you mean '{nearest[0]}'?" if nearest else f"there are: {', '.join(ids)}"
    raise LinemateError(f"no rule '{wanted}': {hint}")


def render_options(
    output: str | None,
    quiet: bool,
    rules: tuple[RuleInfo, ...] = (),
    *,
    details: bool = True,
    top: int = DEFAULT_TOP,
    limit: Severity | None = Severity.HIGH,
    maps: Sequence[MemoryMap] = (),
) -> RenderOptions:
    """Colour and width of where the text goes."""
    to_stdout = output is None or output == "-"
    return RenderOptions(
        color=to_stdout and wants_color(sys.stdout),
        width=terminal_width(sys.stdout, DEFAULT_WIDTH) if to_stdout else DEFAULT_WIDTH,
        summary=not quiet,
        details=details,
        top=top,
        rules=rules,
        version=__version__,
        home=HOMEPAGE,
        source_root=str(Path.cwd()),
        fail_on=limit,
        maps=tuple(maps),
    )


def write_document(
    document: Document,
    emitters: Mapping[str, Emitter[Document]],
    format_name: str | None,
    output: str | None,
    inputs: Iterable[str | None],
    rules: tuple[RuleInfo, ...] = (),
    *,
    quiet: bool,
    details: bool = True,
    top: int = DEFAULT_TOP,
    limit: Severity | None = Severity.HIGH,
    maps: Sequence[MemoryMap] = (),
) -> None:
    """Render in the asked format, else in the one that the ending of ``output`` names."""
    emitter = emitters[format_of(emitters, format_name, output)]
    options = render_options(output, quiet, rules, details=details, top=top, limit=limit, maps=maps)
    write_text(emitter.render(document, options), output, inputs)


def exit_code(report: Report, limit: Severity | None) -> int:
    """3 for an incomplete analysis before 1 for findings: a half-read input proves nothing either way."""
    if report.incomplete:
        return EXIT_INCOMPLETE
    if limit is not None and any(finding.severity.rank >= limit.rank for finding in report.findings):
        return EXIT_FINDINGS
    return EXIT_CLEAN
