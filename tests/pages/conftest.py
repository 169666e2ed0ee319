"""A browser, where there is one: pages are opened as a reader opens the file, and must write nothing on the console."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium-headless-shell", "chromium")
SIZES = ((390, 844), (1280, 800), (1920, 1080))
SCHEMES = ("light", "dark")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium."""
    api = pytest.importorskip("playwright.sync_api", reason="no Playwright: scripts/test-pages installs it")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium: scripts/test-pages installs it")
    with api.sync_playwright() as playwright:
        # Where tests run as root, Chromium refuses its own sandbox.
        started = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"] if os.getuid() == 0 else [])
        yield started
        started.close()


@dataclass
class Opened:
    """A page in the browser; ``said`` is what it wrote on the console, and requests other than for its own file."""

    page: Any
    said: list[str] = field(default_factory=list)

    def violations(self) -> list[str]:
        """What axe-core objects to, as "rule: element"."""
        axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core")
        found = axe.Axe().run(self.page).response["violations"]
        return [f"{one['id']}: {node['html'][:120]}" for one in found for node in one["nodes"]]

    def picture(self, name: str) -> None:
        """Written where LINEMATE_PAGES names a folder."""
        if folder := os.environ.get("LINEMATE_PAGES"):
            self.page.screenshot(path=f"{folder}/{name}.png")


Open = Callable[..., Opened]


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """``opened(html, hash="", size=…, scheme=…)``: the file in a window; in the end it must have said nothing."""
    pages: list[Opened] = []

    def open_page(html: str, hash: str = "", *, size: tuple[int, int] = SIZES[1], scheme: str = "light") -> Opened:
        file = tmp_path / "page.html"
        file.write_text(html)
        window = dict(zip(("width", "height"), size, strict=True))
        page = browser.new_context(viewport=window, color_scheme=scheme).new_page()
        one = Opened(page)
        pages.append(one)
        page.on("console", lambda message: one.said.append(message.text))
        page.on("pageerror", lambda error: one.said.append(str(error)))
        page.on("request", lambda asked: asked.url.startswith("file:") or one.said.append(asked.url))
        page.goto(f"{file.as_uri()}{hash}")
        page.wait_for_selector("#app nav", timeout=60_000)
        return one

    yield open_page
    for one in pages:
        assert one.said == []
        one.page.context.close()
