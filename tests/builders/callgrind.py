"""Makes callgrind out files line by line: parts, threads, costs, calls and jumps.

Owns the text of the format as its writer sees it, apart from the reader's grammar.  Source: valgrind's "Callgrind
Format Specification".

    Out(thread=2).ob("/bin/server").fn("work").cost(0x1000, 10).cost(0x1004, 10).text()
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Out:
    """One part; ``body`` is what stands between header and totals, ``executed`` what its own costs add up to."""

    thread: int | None = 1
    pid: int = 100
    part: int = 1
    events: str = "Ir"
    positions: str = "instr line"
    command: str = "./server"
    body: list[str] = field(default_factory=list)
    executed: int = 0

    def line(self, text: str) -> Out:
        self.body.append(text)
        return self

    def ob(self, name: str) -> Out:
        return self.line(f"ob={name}")

    def fn(self, name: str) -> Out:
        return self.line(f"fn={name}")

    def cost(self, address: int | str, count: int, line: int | str = 0) -> Out:
        """Own cost; the address as a number or as the file would write it."""
        self.executed += count
        where = f"{address:#x}" if isinstance(address, int) else address
        return self.line(f"{where} {line} {count}")

    def call(self, at: str, target: int, times: int, inclusive: int) -> Out:
        return self.line("cfn=(9) callee").line(f"calls={times} {target:#x} 0").line(f"{at} 0 {inclusive}")

    def jump(self, at: str, target: int, taken: int, run: int | None = None) -> Out:
        text = f"jump={taken}" if run is None else f"jcnd={taken}/{run}"
        return self.line(f"{text} {target:#x} 0").line(f"{at} 0")

    def text(self, *, totals: int | None = None) -> str:
        thread = [] if self.thread is None else [f"thread: {self.thread}"]
        head = ["# callgrind format", "version: 1", "creator: callgrind-3.19.0", f"pid: {self.pid}"]
        head += [f"cmd:  {self.command}", f"part: {self.part}", *thread, "", "desc: Trigger: Program termination", ""]
        head += [f"positions: {self.positions}", f"events: {self.events}", f"summary: {self.executed}", ""]
        end = ["", f"totals: {self.executed if totals is None else totals}", ""]
        return "\n".join([*head, *self.body, *end])
