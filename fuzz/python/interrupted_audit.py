"""What an interrupted audit left (``linemate.auditing.spool``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from collections.abc import Iterable

from fuzz.python.engine.target import Target, input_file, input_folder
from linemate.auditing.asking import Answer, Stored
from linemate.auditing.spool import Spool
from linemate.options import AuditOptions
from sharing.model.finding import SCHEMA, Coverage, Report
from sharing.model.finding import Target as Audited

_OPTIONS = AuditOptions("")


def _seeds() -> Iterable[bytes]:
    kept = input_folder() / "made"
    report = Report(SCHEMA, "audit", (Audited("a", "", "x86_64", "executable", "", 64, ""),), Coverage({}, ()), ())
    kept.unlink(missing_ok=True)
    with Spool(_OPTIONS, kept) as spool:
        for name, answer in (("/", Answer(report)), (".", Answer(error="no")), ("/dev", Answer(stored=Stored("lost")))):
            assert not spool.has(name)
            spool.add(name, answer)
    yield kept.read_bytes()


def one(data: bytes) -> None:
    with Spool(_OPTIONS, input_file(data)) as spool:
        for name in ("/", ".", "/dev", "/other"):
            spool.answer(name)
            spool.has(name)


TARGET = Target("what an interrupted audit left", one, _seeds, (b"\xff\xff\xff\xff", b"\0\0\0\x40"))
