"""The functions that ``import linemate`` offers: a command's work as a call, its document as the result.

Owns their options, which are those of the command line with the same defaults, and the promise that every failure a
user can act on is a ``LinemateError``.  ``docs/api.md`` describes them with examples.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from typing import Literal, ParamSpec, TypeVar

from elfscan.tools import tool_path
from sharing.model.comparison import Comparison
from sharing.model.errors import LinemateError, Malformed, Unrecognized
from sharing.model.finding import Confidence, Finding, Report, Severity
from sharing.model.linemap import LayoutReport
from sharing.model.process import children
from sharing.model.project import ProjectConfig

__all__ = [
    "Comparison",
    "Confidence",
    "Finding",
    "LayoutReport",
    "LinemateError",
    "Malformed",
    "Report",
    "Severity",
    "Unrecognized",
    "audit",
    "check",
    "explain",
    "lines",
]

File = str | os.PathLike[str]
Config = File | Literal[False] | None

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def _run_of_its_own(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    @functools.wraps(function)
    def wrapped(*args: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        children.use_spawner(lambda: str(tool_path("linemate-spawn")))
        try:
            return function(*args, **options)
        except OSError as error:
            raise LinemateError(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error

    return wrapped


@_run_of_its_own
def audit(
    binary: File,
    *,
    samples: Iterable[File] = (),
    counts: Iterable[File] = (),
    facts: Iterable[File] = (),
    line_size: int | None = None,
    guards: File | None = None,
    debug_file: File | None = None,
    rules: Iterable[str] = (),
    symbols: Iterable[str] = (),
    min_severity: Severity = Severity.LOW,
    min_confidence: Confidence = Confidence.LAYOUT,
    assume_threads: bool = False,
    config: Config = None,
) -> Report:
    """Judge every global of ``binary`` by the cache line that it is on: ``linemate audit``.

    ``samples`` are profiles of it, ``counts`` exact executions, ``facts`` streams of linemate-facts.  ``line_size`` is
    the bytes of a line (None: the project's or the architecture's).  ``rules`` are rule ids and ``symbols`` globs; none
    means all.  ``guards`` is a file of pairs that must not share a line.  ``assume_threads``: where no start of a
    thread is seen, functions that may be entered run on several.
    ``config`` is the project file; None: the nearest ``linemate.toml`` here or above, False: none.
    """
    from linemate.guardfile import read_guards
    from linemate.options import AuditOptions
    from linemate.pipeline import audit as run

    project = _project(config)
    options = AuditOptions(
        binary=_text(binary),
        line_size=_line_size(line_size, project),
        samples=_texts(samples),
        counts=_texts(counts),
        facts=_texts(facts),
        min_confidence=min_confidence,
        min_severity=min_severity,
        rules=_known(rules),
        symbols=_texts(symbols),
        debug_file=_text_or_none(debug_file),
        project=project,
        assume_threads=assume_threads,
        guards=read_guards(_text(guards)) if guards is not None else (),
    )
    return run(options)


@_run_of_its_own
def lines(
    binary: File,
    symbols: Iterable[str] = (),
    *,
    context: int = 1,
    max_lines: int = 64,
    line_size: int | None = None,
    debug_file: File | None = None,
    config: Config = None,
) -> LayoutReport:
    """The lines of ``binary`` around symbols or addresses, byte by byte: ``linemate lines``.

    Without ``symbols``: how crowded its writable sections are.  ``context`` is how many lines to show on each side,
    ``max_lines`` how many per symbol.
    """
    from linemate.linequery import LinesOptions
    from linemate.linequery import lines as run

    project = _project(config)
    size = _line_size(line_size, project)
    return run(
        LinesOptions(_text(binary), _texts(symbols), size, context, max_lines, _text_or_none(debug_file), project)
    )


@_run_of_its_own
def check(
    sources: Iterable[File] = (),
    *,
    database: File | None = None,
    flags: Iterable[str] | None = None,
    base: str | None = None,
    build: str | None = None,
    trust_repository: bool = False,
    baseline: File | None = None,
    objects: File | None = None,
    binary: File | None = None,
    jobs: int = 0,
    cache: bool = True,
    line_size: int | None = None,
    rules: Iterable[str] = (),
    symbols: Iterable[str] = (),
    min_severity: Severity = Severity.LOW,
    min_confidence: Confidence = Confidence.LAYOUT,
    assume_threads: bool = False,
    config: Config = None,
) -> Report:
    """Judge the globals of a program from its source: ``linemate check``.

    ``database`` is a compile_commands.json or its folder (None: the nearest), from which ``sources`` choose; ``flags``
    compile them without one.  With ``base``, a revision, or ``baseline``, a file of accepted findings, the report holds
    what is new; ``build`` is the command that makes the base's program, to be compared with ``binary``.
    """
    from linemate.checking.run import Comparison as Against
    from linemate.checking.run import check as run
    from linemate.checking.run import facts_request
    from linemate.options import CheckOptions

    project = _project(config)
    wanted = tuple(flags) if flags is not None else None
    options = CheckOptions(
        facts=facts_request(_text_or_none(database), _texts(sources), wanted, jobs, cached=cache),
        objects=_text_or_none(objects) or "",
        binary=_text_or_none(binary) or "",
        line_size=_line_size(line_size, project),
        min_confidence=min_confidence,
        min_severity=min_severity,
        rules=_known(rules),
        symbols=_texts(symbols),
        project=project,
        assume_threads=assume_threads,
    )
    against = Against(
        base=base or "",
        file=_text_or_none(baseline) or "",
        trusts_repository=trust_repository,
        build=build or "",
    )
    return run(options, against)[0]


@_run_of_its_own
def explain(
    old: File,
    new: File,
    *,
    samples_old: Iterable[File] = (),
    samples_new: Iterable[File] = (),
    bench_old: Iterable[File] = (),
    bench_new: Iterable[File] = (),
    debug_old: File | None = None,
    debug_new: File | None = None,
    sensitivity: bool = False,
    matters: float | None = None,
    line_size: int | None = None,
    config: Config = None,
) -> Comparison:
    """Say why ``new`` may be slower than ``old``: ``linemate explain``.

    ``samples_…`` are profiles and ``bench_…`` measurements of each; ``sensitivity`` adds which insertions would join or
    part busy pairs next; ``matters`` is the loss in percent that is worth a search.
    """
    from linemate.explaining.run import ExplainRequest
    from linemate.explaining.run import explain as run

    project = _project(config)
    request = ExplainRequest(
        old=_text(old),
        new=_text(new),
        samples_old=_texts(samples_old),
        samples_new=_texts(samples_new),
        bench_old=_texts(bench_old),
        bench_new=_texts(bench_new),
        debug_old=_text_or_none(debug_old),
        debug_new=_text_or_none(debug_new),
        sensitivity=sensitivity,
        line_size=_line_size(line_size, project),
        project=project,
        **({} if matters is None else {"matters": matters / 100}),
    )
    return run(request)


def _text(path: File) -> str:
    return os.fspath(path)


def _texts(paths: Iterable[File]) -> tuple[str, ...]:
    """Several paths; one path alone, which is a sequence of letters too, is taken for one."""
    return (paths,) if isinstance(paths, str) else tuple(map(_text, paths))


def _text_or_none(path: File | None) -> str | None:
    return None if path is None else _text(path)


def _project(config: Config) -> ProjectConfig:
    if config is False:
        return ProjectConfig()
    from linemate.commands.common import read_project

    return read_project(_text_or_none(config))


def _line_size(asked: int | None, project: ProjectConfig) -> int | None:
    from linemate.config import LINE_SIZES

    if asked is not None and asked not in LINE_SIZES:
        raise LinemateError(f"line_size {asked}: not one of {', '.join(map(str, LINE_SIZES))}")
    return project.project.line_size if asked is None else asked


def _known(rules: Iterable[str]) -> tuple[str, ...]:
    from linemate.commands.common import rule_by_id, rule_infos

    chosen = _texts(rules)
    for rule in chosen:
        rule_by_id(rule_infos(), rule)
    return chosen
