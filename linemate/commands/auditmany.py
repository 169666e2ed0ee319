"""``linemate audit`` of several files and folders: a report of all, or datasets, by processes here or by a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from linemate.auditing.choosing import Chosen, files_of
from linemate.auditing.spool import SUFFIX, Spool
from linemate.auditing.tree import audit_files
from linemate.commands import common
from linemate.fleet.folders import is_url, listed
from linemate.options import AuditOptions
from linemate.output import progress, write_text
from reports.wording import tally
from sharing.model.errors import LinemateError
from sharing.model.finding import Report
from sharing.model.plural import count

if TYPE_CHECKING:
    from linemate.fleet.run import Engine


@dataclass(frozen=True, slots=True)
class TreeRequest:
    """What was asked for.  ``jobs`` 0 is one a core; ``resume``: go on where a run was ended."""

    paths: tuple[str, ...]
    options: AuditOptions
    output: str | None
    jobs: int
    resume: bool
    quiet: bool

    def report(self, finish: Callable[[Report], int]) -> int:
        """One report of all files, which ``finish`` writes; its exit code."""
        chosen = self._chosen()
        partial = self._partial() if self.resume else None
        with Spool(self.options, partial) as spool:
            if spool.dropped:
                common.say(f"{partial}: was of other options or of another linemate: all files are read again")
            with self._progress() as say:
                report = audit_files(chosen, self.options, self._processes, spool, say)
            code = finish(report)
            spool.remove()
        if not self.quiet and self.output is not None and self.output != "-":
            for line in _told(report, self.output, code):
                common.say(line)
        return code

    def store(self, engine: str, scheduler: str | None) -> int:
        """Results as datasets in a folder; the exit code is that of a report."""
        from linemate.fleet.run import store_files

        folder = self._named_output("--format parquet writes several datasets: name a folder with -o DIR")
        if scheduler is not None and engine != common.DASK:
            raise click.UsageError(f"--scheduler is of --engine {common.DASK}")
        if self.options.guards:
            raise click.UsageError("--guards are of one binary and have no dataset: take another format")
        chosen = self._chosen(remote=True)
        with self._progress() as say:
            tally = store_files(
                chosen.files,
                self.options,
                folder,
                self._engine(engine, scheduler),
                resume=self.resume,
                others=chosen.others,
                say=say,
            )
        if not self.quiet:
            write_text(tally.text(folder), None, ())
        if tally.incomplete or chosen.closed:
            return common.EXIT_INCOMPLETE
        limit = self.options.fail_on
        return common.EXIT_FINDINGS if limit is not None and tally.reaches(limit) else common.EXIT_CLEAN

    def _chosen(self, *, remote: bool = False) -> Chosen:
        """``remote``: of URLs all files are taken, and whoever reads one finds out what it is."""
        if self.options.samples or self.options.counts or self.options.facts or self.options.debug_file:
            raise click.UsageError("--samples, --counts, --facts and --debug-file are of one binary: name that alone")
        urls = [path for path in self.paths if remote and is_url(path)]
        chosen = files_of(path for path in self.paths if path not in urls)
        chosen.files += [file for url in urls for file in listed(url)]
        if not chosen.files:
            raise LinemateError(f"{', '.join(self.paths[:3])}: no ELF file or archive there")
        return chosen

    def _partial(self) -> Path:
        """Where what is done is kept."""
        return Path(
            self._named_output("--resume keeps what is done beside the output: name that with -o FILE") + SUFFIX
        )

    def _named_output(self, why: str) -> str:
        if self.output is None or self.output == "-":
            raise click.UsageError(why)
        return self.output

    @property
    def _processes(self) -> int:
        return self.jobs or len(os.sched_getaffinity(0))

    def _progress(self) -> AbstractContextManager[Callable[[str], None]]:
        return progress("linemate: reading files", quiet=self.quiet)

    def _engine(self, name: str, scheduler: str | None) -> Engine:
        if name == common.DASK:
            from linemate.fleet.cluster import answers as on_cluster

            return lambda tasks: on_cluster(tasks, scheduler, self._processes)
        from linemate.auditing.processes import answers

        return lambda tasks: answers(tasks, self._processes)


def _told(report: Report, output: str, code: int) -> Iterator[str]:
    """What a person is told of a report that went to a file: how much was read, what was found, why a run fails."""
    counts = report.coverage.counts
    resumed = counts.get("files_resumed", 0)
    again = f", {resumed:,} of them by the run that was ended" if resumed else ""
    yield f"{count(counts.get('files', 0), 'file')} audited{again}; the report is in {output}"
    yield tally(report)
    lost = (
        ("files_failed", "not audited"),
        ("files_incomplete", "not analysed whole"),
        ("files_unreadable", "not to be opened"),
    )
    missing = [f"{counts[key]:,} {words}" for key, words in lost if counts.get(key)]
    if code == common.EXIT_INCOMPLETE:
        yield f"incomplete (exit code {code}): {', '.join(missing)}; the notes of the report name them"
