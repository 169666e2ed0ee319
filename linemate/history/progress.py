"""How far a long run is, on a terminal.  Owns the bar; nothing is shown where nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from reports.escape import visible


@contextmanager
def watched(what: str, total: int, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A function to call with a name at each step that was made."""
    if quiet or total <= 0 or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=total)

        def step(name: str) -> None:
            bar.update(task, advance=1, description=f"{what} {visible(name)}".replace("[", "\\["))

        yield step
