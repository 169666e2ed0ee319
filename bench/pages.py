"""page: how long the page of a hundred thousand variables takes to open and to draw a frame, in Debian's Chromium.

Owns the program of that many variables, and its peer: a tenth of the variables as a plain table of HTML, of which the
browser needs half a minute for all.  Limits hold wall time to open, and of a frame the processor time of the page's own
thread, which does not depend on what else the machine does.
"""

from __future__ import annotations

import html
import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.measure import Unavailable, compare, run
from bench.places import AUDIT_EXITS, WORK, linemate, tool
from bench.report import limit, ratio, table

VARIABLES = 100_000
FUNCTIONS = 3_000
ACCESSES = 100  # of each function, in a loop
_OPEN_LIMIT_S = 2.0
_FRAME_LIMIT_MS = 1000 / 60
_BROWSERS = ("chromium-headless-shell", "chromium")
_WINDOW: Any = {"width": 1280, "height": 800}
_FRAMES = """async ([box, frames]) => {
  const scrolled = document.querySelector(box), times = [];
  const next = () => new Promise(requestAnimationFrame);
  let before = await next();
  for (let frame = 0; frame < frames; frame++) {
    scrolled.scrollTop += 300;
    const now = await next();
    times.push(now - before);
    before = now;
  }
  return times;
}"""
_MEASURED_FRAMES = 120
_OPENED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@dataclass(slots=True)
class _Scrolled:
    """Frames of one view: wall milliseconds of each, and processor seconds of the page's thread for all."""

    times_ms: list[float] = field(default_factory=list)
    processor_s: float = 0.0

    def measure(self, window: Any, box: str) -> None:
        session = window.context.new_cdp_session(window)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        before_s = _task_s(session)
        self.times_ms += window.evaluate(_FRAMES, [box, _MEASURED_FRAMES])
        self.processor_s += _task_s(session) - before_s

    @property
    def frame_ms(self) -> float:
        return self.processor_s * 1000 / len(self.times_ms)

    def text(self, name: str) -> str:
        cut = statistics.quantiles(self.times_ms, n=20)
        of_wall = f"{cut[9]:.1f} ms of wall time, one of 20 above {cut[18]:.1f}"
        return f"  scrolling {name}: {self.frame_ms:.1f} ms of processor time a frame; {of_wall}"


def _task_s(session: Any) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))


def measure(rounds: int) -> list[str]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise Unavailable("no Playwright: scripts/test-pages installs it") from None
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        raise Unavailable("no Chromium: install Debian's chromium-headless-shell")
    page, plain = _pages()
    views = {"variables": _Scrolled(), "map": _Scrolled(), "plain": _Scrolled()}
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"] if os.getuid() == 0 else [])

        def opened(file: Path, ready: str, look: Callable[[Any], None]) -> Callable[[], tuple[float, bool]]:
            def once() -> tuple[float, bool]:
                window = started.new_page(viewport=_WINDOW)
                start = time.perf_counter()
                window.goto(file.as_uri())
                window.wait_for_selector(ready)
                window.evaluate(_OPENED)
                took_s = time.perf_counter() - start
                look(window)
                window.close()
                return took_s, False

            return once

        def scroll_page(window: Any) -> None:
            for key, name, box in (("3", "variables", "#view-variables .rows"), ("2", "map", ".map-box")):
                window.keyboard.press(key)
                views[name].measure(window, box)

        def scroll_plain(window: Any) -> None:
            views["plain"].measure(window, "html")

        result = compare(
            {
                "page": opened(page, "#app nav", scroll_page),
                "plain tenth": opened(plain, "table", scroll_plain),
            },
            rounds,
        )
        started.close()
    return [
        f"  {VARIABLES:,} variables, {FUNCTIONS * ACCESSES:,} accesses: {page.stat().st_size / 1e6:.1f} MB",
        *table(result, "s"),
        ratio(result, "page", "plain tenth"),
        limit(result.series["page"].median, _OPEN_LIMIT_S, "seconds to open"),
        *(view.text(name) for name, view in views.items()),
        limit(max(views[name].frame_ms for name in ("variables", "map")), _FRAME_LIMIT_MS, "milliseconds a frame", 1),
    ]


def _pages() -> tuple[Path, Path]:
    """The audit's page and the plain one, made of a program of that many variables."""
    folder = WORK / "page"
    folder.mkdir(parents=True, exist_ok=True)
    program, page, plain = folder / "program.so", folder / "page.html", folder / "plain.html"
    names = [f"subsystem_{at % 97}_object_{at}" for at in range(VARIABLES)]
    if not program.exists():
        (folder / "program.s").write_text(_assembly(names))
        compiled = [tool("gcc", "gcc"), "-shared", "-nostdlib", str(folder / "program.s"), "-o", str(program)]
        subprocess.run(compiled, check=True)
    done = run(linemate("audit", str(program), "--assume-threads", "--min-severity", "note", "-o", str(page)))
    if done.returncode not in AUDIT_EXITS:
        raise Unavailable(f"the audit ended with {done.returncode}: {done.stderr[-200:]}")
    rows = "".join(
        f"<tr><th>{html.escape(name)}</th><td>8</td><td>.bss</td></tr>\n" for name in names[: VARIABLES // 10]
    )
    plain.write_text(f"<!DOCTYPE html><title>variables</title><table>{rows}</table>")
    return page, plain


def _assembly(names: list[str]) -> str:
    """Functions that each write a hundred of the variables over and over."""
    bss = "".join(f".globl {name}\n.type {name},@object\n.size {name},8\n{name}: .zero 8\n" for name in names)
    text = []
    for function in range(FUNCTIONS):
        touched = (names[(function * ACCESSES + at * 31) % VARIABLES] for at in range(ACCESSES))
        body = "".join(f"lock incq {name}(%rip)\n" for name in touched)
        head = f".globl work_{function}\n.type work_{function},@function\nwork_{function}:\n1: "
        text.append(f"{head}{body}dec %rdi\njnz 1b\nret\n.size work_{function}, . - work_{function}\n")
    hidden = "".join(f".protected {name}\n" for name in names)  # addressed without a table
    return f".bss\n.balign 64\n{hidden}{bss}.text\n{''.join(text)}.section .note.GNU-stack\n"
