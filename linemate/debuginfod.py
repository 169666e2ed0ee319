"""Debug information from debuginfod servers: asked for by build-id, over HTTP, kept in the cache.

Owns the protocol, and whether anybody is asked at all: only where the user said so, by an option or by
DEBUGINFOD_URLS.  The cache is a debug directory like the system's, so whatever looks for debug information finds it.
How much a server may send is ``linemate.fetching``'s.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from elfscan.debug.debugfile import build_id_file, build_id_of, missing_debug, search_also
from linemate.cachedir import quiet_folder
from linemate.distribution import distribution
from sharing.model.errors import LinemateError
from sharing.model.process.scratch import beside

URLS = "DEBUGINFOD_URLS"
MAX_BYTES = 8 << 30  # of one file; the debug information of a browser has 4 GB
_NOT_FOUND = 404
_MAX_FILES = 2  # of one program: its own, and the one that dwz moved common parts to


@dataclass(frozen=True, slots=True)
class _Failed:
    """Why nothing was fetched; ``denied``: a server said that it has nothing, ``gone``: those that did not answer."""

    why: str
    denied: bool
    gone: tuple[str, ...] = ()


def servers(asked: bool) -> tuple[str, ...]:
    """Whom to ask: DEBUGINFOD_URLS, else the distribution's server where the user asked for that; else nobody."""
    named = os.environ.get(URLS, "").split()
    if not named and asked:
        named = [distribution().debuginfod]
    for url in named:
        if not url.startswith(("http://", "https://")):
            raise LinemateError(f"{URLS}: {url} is no address of http or https")
    return tuple(url.rstrip("/") for url in named)


def find_debug_files(paths: Sequence[str], *, asked: bool, say: Callable[[str], None]) -> frozenset[str]:
    """Have the debug information of ``paths`` where it is looked for, as far as servers have it.

    What was fetched before is found without asking anybody.  ``say`` is told what could not be fetched, and once of a
    server that it could not be reached: it is not asked again.  Returns the
    paths of which a server said that it has nothing.
    """
    folder = quiet_folder("debug")
    if folder is not None:
        search_also(str(folder))
    urls = servers(asked)
    denied: set[str] = set()
    if not urls:
        return frozenset()
    if folder is None:
        say("debuginfod: there is no cache folder to keep what is fetched in")
        return frozenset()
    for path in paths:
        for _ in range(_MAX_FILES):
            try:
                wanted = missing_debug(path)
            except (LinemateError, OSError):
                break  # whoever reads the file says it
            if wanted is None:
                break
            failed = _fetch(wanted, urls, Path(build_id_file(str(folder), wanted)))
            if failed is not None:
                urls = tuple(url for url in urls if url not in failed.gone)
                if failed.why:
                    say(f"debuginfod: {failed.why}" if failed.gone else f"debuginfod: {path}: {failed.why}")
                if failed.denied:
                    denied.add(path)
                break
    return frozenset(denied)


def _fetch(build_id: str, urls: Sequence[str], target: Path) -> _Failed | None:
    """Fetch a file from the first server that has it; None, or why there is none."""
    from urllib.error import HTTPError, URLError

    from linemate.fetching import FAILURES, download

    reasons, gone = [], []
    denied = False
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    for url in urls:
        try:
            with beside(target) as making:
                download(f"{url}/buildid/{build_id}/debuginfo", making, most_bytes=MAX_BYTES)
                if build_id_of(str(making)) == build_id:
                    os.replace(making, target)
                    return None
                reasons.append(f"{url} sent a file of another build-id")
        except HTTPError as error:
            nothing = error.code == _NOT_FOUND
            denied |= nothing
            reasons.append(f"{url} has nothing for build-id {build_id}" if nothing else f"{url}: {error}")
        except URLError as error:
            why = getattr(error.reason, "strerror", None) or error.reason
            reasons.append(f"{url} could not be reached ({why})")
            gone.append(url)
        except FAILURES as error:
            reasons.append(f"{url}: {error}")
    return _Failed("; ".join(reasons), denied, tuple(gone))
