"""The diagnosis for a terminal.  Owns its wording; knows nothing that the document does not say."""

from __future__ import annotations

from collections.abc import Iterator

from linemate.doctor import CacheState, Diagnosis
from reports.escape import visible

_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_MARGIN = 11


def render(found: Diagnosis) -> str:
    """Lines for people; every string from outside is escaped."""
    return "".join(visible(line) + "\n" if line else "\n" for line in _lines(found))


def _lines(found: Diagnosis) -> Iterator[str]:
    processor = " ".join(filter(None, (found.vendor, found.model))) or "unknown processor"
    yield _row("machine", f"{found.architecture or 'unknown architecture'}, {processor}")
    if found.hypervisor:
        name = "" if found.hypervisor == "yes" else f" ({found.hypervisor})"
        yield _row("", f"a virtual machine{name}")
    yield _row("kernel", found.kernel or "unknown")
    yield _row("perf", f"{found.perf_version} ({found.perf_path})" if found.perf_path else found.perf_error)
    yield _row("helpers", f"confinement: {found.confinement}")
    paranoid = "unknown" if found.perf_event_paranoid is None else found.perf_event_paranoid
    kptr = "unknown" if found.kptr_restrict is None else found.kptr_restrict
    yield _row("rights", f"perf_event_paranoid {paranoid}, kptr_restrict {kptr}")
    yield _row("", ", ".join(found.capabilities) or "no capability that helps")
    yield _row("cpus", _cpus(found))
    if found.nodes:
        yield _row("nodes", "; ".join(found.nodes))
    if found.caches:
        for number, cache in enumerate(found.caches):
            yield _row("caches" if number == 0 else "", _cache(cache))
    else:
        yield _row("caches", "unknown")
    yield ""
    yield from _events(found)
    if found.remarks:
        yield from ("", "remarks", *(f"  - {remark}" for remark in found.remarks))
    if found.advice:
        yield from ("", "for better evidence")
    for advice in found.advice:
        yield f"  - {advice.why}"
        if advice.command:
            yield f"      {advice.command}"


def _row(name: str, text: str) -> str:
    return f"{name:<{_MARGIN}}{text}"


def _cpus(found: Diagnosis) -> str:
    if not found.cpus:
        return "unknown"
    cores = f", {len(found.cores)} cores of {found.threads_per_core} threads" if found.cores else ""
    if found.threads_per_core == 1:
        cores = f", {len(found.cores)} cores, one thread each"
    packages = f", {len(found.packages)} packages" if len(found.packages) > 1 else ""
    return f"{found.cpus}{cores}{packages}"


def _cache(cache: CacheState) -> str:
    line = f"lines of {cache.line_bytes} bytes" if cache.line_bytes else "line size unknown"
    size = f", {_size(cache.size_bytes)}" if cache.size_bytes else ""
    shared = f", shared by {cache.shared_by}" if cache.shared_by > 1 else ""
    return f"L{cache.level} {cache.kind.lower()}: {line}{size}{shared} (cpus {cache.cpus})"


def _size(size_bytes: int) -> str:
    for unit, name in _UNITS:
        if size_bytes >= unit:
            return f"{size_bytes / unit:g} {name}"
    return f"{size_bytes} bytes"


def _events(found: Diagnosis) -> Iterator[str]:
    if not found.events:
        yield "events     none can be tried without perf"
        return
    yield "events, those that work first, from the best evidence down"
    width = max(len(event.name) for event in found.events)
    for event in found.events:
        if not event.works:
            continue
        said = f"data addresses {event.addresses}" if event.addresses != "function" else "functions only"
        yield f"  {event.name:<{width}}  {'taken' if event.name == found.best else 'works'}  {said}"
        if event.name == found.best:
            pad = " " * (width + 11)
            yield f"{pad}shows {event.shows}"
            yield f"{pad}cannot show {event.cannot_show}"
    if not found.best:
        yield "  nothing can be sampled here"
    for event in found.events:
        if not event.works:
            yield f"  {event.name:<{width}}  no     {event.refusal}"
