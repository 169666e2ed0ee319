"""What several commands share: options, the project file, rules by id, the exit code.

Owns the spelling of common flags, so that they are the same everywhere; ``linemate.commands.groups`` has what they mean
together.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from linemate.config import LINE_SIZES, find_config, load_config
from reports import EMITTERS
from reports.emitters import Document, Emitter
from reports.escape import visible
from reports.options import DEFAULT_TOP
from sharing.model.errors import LinemateError
from sharing.model.finding import Confidence, Report, Severity
from sharing.model.project import ProjectConfig
from sharing.model.rule import RuleInfo

if TYPE_CHECKING:  # of explain alone
    from sharing.model.comparison import Comparison

LOCAL, DASK = "local", "dask"  # engines
EXIT_CLEAN = 0
EXIT_FINDINGS = 1
EXIT_INCOMPLETE = 3
NO_PROJECT = ProjectConfig()

Command = TypeVar("Command", bound=Callable[..., Any])
Analysed = TypeVar("Analysed", Report, "Comparison")


def _apply(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    for option in options:
        command = option(command)
    return command


def engine_options(work: str) -> Callable[[Command], Command]:
    """Who does the ``work``: processes of this machine, or a cluster."""
    engine = click.option(
        "--engine",
        type=click.Choice((LOCAL, DASK)),
        default=LOCAL,
        show_default=True,
        help=f"Who {work}: processes of this machine, or Dask.",
    )
    scheduler = click.option(
        "--scheduler", metavar="ADDRESS", help=f"Of --engine {DASK}: one that runs; default: one started here."
    )
    return lambda command: engine(scheduler(command))


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


def debuginfod_option(command: Command) -> Command:
    """Whether servers are asked for debug information; ``linemate.debuginfod`` asks them."""
    meaning = "Fetch debug information that is missing, from DEBUGINFOD_URLS or the distribution's server."
    return click.option("--debuginfod", is_flag=True, help=meaning)(command)


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


def read_project(config: str | None) -> ProjectConfig:
    """The project file that was named, else the nearest above the current folder, else none."""
    path = Path(config) if config else find_config(Path.cwd())
    return load_config(path) if path else ProjectConfig()


def fail_limit(fail_on: str | None, project: ProjectConfig = NO_PROJECT) -> Severity | None:
    """What --fail-on says, else the project; None where nothing fails the run."""
    if fail_on == "never":
        return None
    return Severity(fail_on) if fail_on else project.project.fail_on or Severity.HIGH


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


def with_notes(document: Analysed, notes: Iterable[str]) -> Analysed:
    """The document with notes in front of its own."""
    coverage = msgspec.structs.replace(document.coverage, notes=(*notes, *document.coverage.notes))
    return msgspec.structs.replace(document, coverage=coverage)


def exit_code(report: Report, limit: Severity | None) -> int:
    """3 for an incomplete analysis before 1 for findings: a half-read input proves nothing either way."""
    if report.incomplete:
        return EXIT_INCOMPLETE
    if limit is not None and any(finding.severity.rank >= limit.rank for finding in report.findings):
        return EXIT_FINDINGS
    return EXIT_CLEAN
