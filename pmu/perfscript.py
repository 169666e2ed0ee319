"""The reader of what ``perf script`` prints, with its usual fields in perf's order.

Owns the grammar of these lines: comm, pid/tid, [cpu], time, period, event, addr, data_src, weight, ip, symbol, (file),
phys_addr.  Thread and event must be there.  Of a call chain the first frame names the function; its number is no
run-time address (perf prints it relative to the file) and is not used.  A binary perf.data says more than its text.
"""

from __future__ import annotations

import re
from pathlib import Path

from pmu.samplesbuilder import Builder, MappingDetails, Names
from pmu.textlines import Rows, lines
from sharing.model.errors import Unrecognized
from sharing.model.samples import PROT_EXEC, PROT_WRITE, Counts, Event, Field, Recording, Samples

SAMPLE = re.compile(
    r"\s*(?:(?P<comm>\S.{0,15}?)\s+)??(?:(?P<pid>-?\d{1,10})/)?(?P<tid>-?\d{1,10})\s+(?:\[(?P<cpu>\d{1,5})\]\s+)?"
    r"(?:(?P<s>\d{1,10})\.(?P<fraction>\d{1,9}):\s+)?(?:(?P<period>\d{1,20})\s+)?(?P<event>[^\s:][^\s]*):(?P<rest>\s.*|)$"
)
# What follows the event is matched with one blank between words, which keeps these patterns linear.
OPERATION = " |OP "
DATA_SRC = re.compile(r"(?P<before>.*?)\b(?P<data_src>[0-9a-f]{1,16})$")  # in front of what it means in words
BEHIND = re.compile(r"(?:[^|]*\|)*+[^|]*? (?P<after>[0-9a-f]+(?: .*)?)$")
HEX = re.compile(r"(?:^| )([0-9a-f]{1,16})(?= |$)")
FILE = r"(?:\((?P<dso>[/\[][^()]*(?: \(deleted\))?|[^()\s]+)\))"
# The symbol and file of a data address stand between it and the ip, which in turn is followed by something.
DATA_PLACE = re.compile(r"(?P<addr>[0-9a-f]{1,16}) (?P<place>[^ 0-9(].*?|\(.*?\)) (?=[0-9a-f]{5,16} \S)")
NUMBER = re.compile(r"(\d{1,20}) ")
PLACE = re.compile(r" ?(?P<symbol>\S.*?)??(?:\+0x[0-9a-f]+)?(?: " + FILE + r")?(?: (?P<phys>[0-9a-f]{1,16}))?$")
FRAME = re.compile(r"\s+[0-9a-f]+ (?P<place>\S.*)$")
# With --show-mmap-events and the like: a mapping, or another record that is no sample.
RECORD = re.compile(r".{0,64}?\bPERF_RECORD_[A-Z]")
MAPPING = re.compile(
    r".{0,48}?(?:\s(?P<s>\d{1,10})\.(?P<fraction>\d{1,9}):)?\s+PERF_RECORD_MMAP2? (?P<pid>-?\d{1,10})/-?\d{1,10}: "
    r"\[(?P<start>0x[0-9a-f]{1,16})\((?P<size>0x[0-9a-f]{1,16})\) @ (?P<pgoff>0x[0-9a-f]{1,16}|0)"
    r"(?: <(?P<build_id>[0-9a-f]{1,40})>| [^\]<]{1,60})?\]: (?P<protection>[r-][w-][x-][ps]) (?P<path>\S.*)$"
)
REGISTERS = " ABI:"
UNKNOWN = "[unknown]"
LOOK_AT = 100  # lines that may come before the first sample
MIN_ADDRESS_DIGITS = 5  # shorter words of a-f are names of functions


def read(path: Path) -> Samples:
    """Raises Unrecognized where none of the first lines is a sample."""
    reader = _Reader()
    for number, line in enumerate(lines(path), 1):
        if not line.strip() or line.startswith("#"):
            continue
        reader.line(line)
        if not reader.samples and not reader.records and number >= LOOK_AT:
            break
    if not reader.samples:
        raise Unrecognized(str(path), "no line has the format of a sample: comm pid/tid time: event: …")
    return reader.finish()


class _Reader:
    """Samples so far, and the one whose call chain may follow."""

    def __init__(self) -> None:
        self.samples = 0
        self.records = 0  # of perf's that are no samples
        self._builder = Builder()
        self._rows = Rows(self._builder)
        self._events = Names()
        self._fields: dict[int, Field] = {}
        self._named: dict[int, str] = {}
        self._open: dict[str, int] | None = None
        self._bad = 0
        self._mapped: set[int] = set()  # processes whose mappings are known

    def line(self, line: str) -> None:
        if self._open is not None and "symbol" not in self._open and (frame := FRAME.match(line)):
            self._place(frame["place"], self._open)
            self._fields[self._open["event"]] |= Field.CALLCHAIN
            return
        if self._open is not None and FRAME.match(line):
            return
        if RECORD.match(line):
            self._record(line)
            return
        found = SAMPLE.match(line)
        if found is None:
            self._bad += self.samples > 0
            return
        self._close()
        self._sample(found)

    def _record(self, line: str) -> None:
        """A mapping of a process; the kernel's say nothing that text could use."""
        self.records += 1
        found = MAPPING.match(line)
        if found is None or int(found["pid"]) < 0:
            return
        time = int(found["s"]) * 1_000_000_000 + int(found["fraction"].ljust(9, "0")) if found["s"] else 0
        bits = found["protection"]
        self._mapped.add(int(found["pid"]))
        self._builder.map(
            time,
            int(found["pid"]),
            int(found["start"], 16),
            int(found["size"], 16),
            int(found["pgoff"], 16),
            found["path"].strip(),
            MappingDetails(
                protection=(bits[0] == "r") | PROT_WRITE * (bits[1] == "w") | PROT_EXEC * (bits[2] == "x"),
                build_id=found["build_id"] or "",
                shared=bits[3] == "s",
            ),
        )

    def _sample(self, found: re.Match[str]) -> None:
        event = self._events.row(found["event"])
        values = {"event": event, "tid": int(found["tid"]), "period": 1}
        fields = Field.THREAD
        if found["pid"]:
            values["pid"] = int(found["pid"])
        if found["cpu"]:
            values["cpu"] = int(found["cpu"])
            fields |= Field.CPU
        if found["s"]:
            values["time"] = int(found["s"]) * 1_000_000_000 + int(found["fraction"].ljust(9, "0"))
            fields |= Field.TIME
        if found["period"]:
            values["period"] = int(found["period"])
            fields |= Field.PERIOD
        self._fields[event] = self._fields.get(event, Field(0)) | fields
        comm, tid = found["comm"], values["tid"]
        if comm and tid >= 0 and self._named.get(tid) != comm:
            self._named[tid] = comm
            self._builder.comm(values.get("time", 0), values.get("pid", -1), tid, comm, executed=False)
        self._open = values
        self.samples += 1
        self._numbers(" ".join(found["rest"].split(REGISTERS, 1)[0].split()), values)

    def _numbers(self, rest: str, values: dict[str, int]) -> None:
        """addr, data_src, weight and ip, which perf prints as bare numbers in this order."""
        fields = Field(0)
        front, operation, behind = rest.partition(OPERATION)
        source = DATA_SRC.match(front) if operation else None
        if source and (after := BEHIND.match(behind)):
            values["data_src"] = int(source["data_src"], 16)
            fields |= Field.DATA_SRC
            if address := HEX.match(source["before"]):
                values["addr"] = int(address[1], 16)
                fields |= Field.ADDR
            rest = after["after"]
            for name, field in (("weight", Field.WEIGHT), ("ins_latency", Field.INS_LATENCY)):
                if len(self._run(rest)) > 1 and (number := NUMBER.match(rest)):
                    values[name] = int(number[1])
                    fields |= field
                    rest = rest[number.end() :]
        elif placed := DATA_PLACE.match(rest):
            values["addr"] = int(placed["addr"], 16)
            fields |= Field.ADDR
            rest = rest[placed.end() :]
        elif len(run := self._run(rest)) > 1:
            values["addr"] = run[0][0]
            fields |= Field.ADDR
        run = self._run(rest)
        self._fields[values["event"]] |= fields
        if run:
            values["ip"], end = run[-1]
            self._fields[values["event"]] |= Field.IP
            self._place(rest[end:], values)

    def _run(self, rest: str) -> list[tuple[int, int]]:
        """Numbers at the beginning of the rest, each with where it ends; a short word of letters is no number."""
        out, at = [], 0
        while found := HEX.match(rest, at):
            word = found[1]
            if len(word) < MIN_ADDRESS_DIGITS and not word.isdigit():
                break
            out.append((int(word, 16), found.end()))
            at = found.end()
        return out

    def _place(self, text: str, values: dict[str, int]) -> None:
        found = PLACE.match(" " + " ".join(text.split()))
        if found is None:
            return
        name, image = found["symbol"] or "", found["dso"] or ""
        name, image = ("" if part == UNKNOWN else part for part in (name, image))
        if found["phys"]:
            values["phys_addr"] = int(found["phys"], 16)
            self._fields[values["event"]] |= Field.PHYS_ADDR
        if name or image:
            values["symbol"] = self._builder.symbols.row((name, image))
            self._fields[values["event"]] |= Field.SYMBOL

    def _close(self) -> None:
        if self._open is not None:
            if "pid" not in self._open and len(self._mapped) == 1:
                self._open["pid"] = min(self._mapped)  # perf prints the process only when asked to
            try:
                self._rows.add(self._open)
            except ValueError:
                self._bad += 1
        self._open = None

    def finish(self) -> Samples:
        self._close()
        self._rows.flush()
        notes = (f"{self._bad} lines are not in the format of a sample",) if self._bad else ()
        counts = Counts(samples=self._builder.store.size, malformed_records=self._bad, notes=notes)
        events = tuple(Event(name, self._fields[row]) for row, name in enumerate(self._events.all()))
        return self._builder.finish(events, Recording("perf script", recorder="perf"), counts)
