"""Options that belong together reach a command as one value.

Owns the groups that several commands have, and what their options mean together.  A group of one command stands in its
module.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from linemate.commands import common
from linemate.output import check_output, terminal_width, wants_color, write_text
from linemate.version import HOMEPAGE, __version__
from reports import EMITTERS, RenderOptions
from reports.emitters import Document, Emitter, by_ending
from reports.options import DEFAULT_TOP, DEFAULT_WIDTH, MAX_PROSE_WIDTH
from sharing.model.finding import Confidence, Severity
from sharing.model.memorymap import MemoryMap
from sharing.model.project import ProjectConfig
from sharing.model.rule import RuleInfo

Command = TypeVar("Command", bound=Callable[..., Any])

PLAIN = {name: EMITTERS[name] for name in ("text", "json")}  # of commands that have no other


def grouped(**groups: type[Any]) -> Callable[[Command], Command]:
    """The command gets a value for each of ``groups``, made of those options that are fields of it."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def called(*args: Any, **values: Any) -> Any:
            for name, group in groups.items():
                fields = [field.name for field in dataclasses.fields(group) if field.name in values]
                values[name] = group(**{field: values.pop(field) for field in fields})
            return command(*args, **values)

        return cast(Command, called)

    return decorate


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentOptions:
    """How the document looks and where it goes."""

    output: str | None = None
    format_name: str | None = None
    quiet: bool = False
    details: bool = True
    top: int = DEFAULT_TOP

    def check(self, emitters: Mapping[str, Emitter[Document]], inputs: Iterable[str | None]) -> None:
        """Raises LinemateError for what ``write`` would refuse: called before the long work."""
        check_output(self.output, inputs)
        self.format_of(emitters)

    def format_of(self, emitters: Mapping[str, Emitter[Document]]) -> str:
        """The format that was asked for.  Raises LinemateError where the ending of ``output`` names none of them."""
        return self.format_name or by_ending(emitters, self.output)

    @property
    def as_json(self) -> bool:
        """Of a command that has text and JSON."""
        return self.format_of(PLAIN) == "json"

    def write(
        self,
        document: Document,
        emitters: Mapping[str, Emitter[Document]],
        inputs: Iterable[str | None],
        render: RenderOptions | None = None,
    ) -> None:
        """Render in the asked format, else in the one that the ending of ``output`` names."""
        emitter = emitters[self.format_of(emitters)]
        write_text(emitter.render(document, render or self.render_options()), self.output, inputs)

    def rules_of(self, emitters: Mapping[str, Emitter[Document]]) -> tuple[RuleInfo, ...]:
        """All rules where the format shows their pages: loading them takes time."""
        return common.rule_infos() if emitters[self.format_of(emitters)].shows_rules else ()

    def render_options(
        self,
        rules: tuple[RuleInfo, ...] = (),
        limit: Severity | None = Severity.HIGH,
        maps: Sequence[MemoryMap] = (),
        widest: int = MAX_PROSE_WIDTH,
    ) -> RenderOptions:
        """Colour and width of where the text goes; ``limit`` is what fails the run, ``widest`` in columns."""
        to_stdout = self.output is None or self.output == "-"
        return RenderOptions(
            color=to_stdout and wants_color(sys.stdout),
            width=terminal_width(sys.stdout, DEFAULT_WIDTH, widest) if to_stdout else DEFAULT_WIDTH,
            summary=not self.quiet,
            details=self.details,
            top=self.top,
            rules=rules,
            version=__version__,
            home=HOMEPAGE,
            source_root=str(Path.cwd()),
            fail_on=limit,
            maps=tuple(maps),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingOptions:
    """Which findings are shown, and which fail the run."""

    symbols: tuple[str, ...]
    rules: tuple[str, ...]
    min_confidence: str
    min_severity: str | None
    fail_on: str | None

    def check_rules(self) -> None:
        """Raises LinemateError for a rule that there is not."""
        known = common.rule_infos() if self.rules else ()
        for rule in self.rules:
            common.rule_by_id(known, rule)

    def limit(self, project: ProjectConfig) -> Severity | None:
        """What fails the run; None where nothing does."""
        return common.fail_limit(self.fail_on, project)

    @property
    def confidence(self) -> Confidence:
        return Confidence[self.min_confidence.upper()]

    def severity(self, limit: Severity | None) -> Severity:
        """What fails the run is shown: asking to fail on notes shows notes, unless --min-severity says otherwise."""
        if self.min_severity:
            return Severity(self.min_severity)
        if self.fail_on and limit is not None:
            return min(Severity.LOW, limit, key=lambda severity: severity.rank)
        return Severity.LOW


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectOptions:
    """The project file, and the size of a line that may stand in it."""

    config: str | None
    line_size: str | None

    def again(self) -> list[str]:
        """The words that have another command read the same project in the same way."""
        given = (("--config", self.config), ("--line-size", self.line_size))
        return [word for option, value in given if value is not None for word in (option, value)]

    def read(self) -> tuple[ProjectConfig, int | None]:
        """The project, and bytes per line: None, also for ``auto``, leaves them to the architecture."""
        project = common.read_project(self.config)
        if self.line_size is None:
            return project, project.project.line_size
        return project, None if self.line_size == "auto" else int(self.line_size)
