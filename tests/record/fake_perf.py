"""A stand-in for perf: a script that refuses and records as plan.json beside it says, and logs how it was called."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

here = Path(__file__).resolve().parent
arguments = sys.argv[1:]
with open(here / "calls", "a") as log:
    log.write(json.dumps(arguments) + "\n")
plan = json.loads((here / "plan.json").read_text())


def fail(said: str) -> None:
    print(said, file=sys.stderr)
    sys.exit(255)


def option(name: str) -> list[str]:
    return [arguments[at + 1] for at, part in enumerate(arguments[:-1]) if part == name]


def write(path: str, events: list[dict]) -> None:
    """A recording with what each event is told to have."""
    sys.path.insert(0, (here / "builders").read_text())
    import perfdata as b

    attrs = []
    for number, event in enumerate(events):
        kind = b.IP | b.TID | b.TIME | b.ADDR | b.CPU | b.PERIOD | b.IDENTIFIER
        kind |= b.REGS_INTR if event.get("regs") else 0
        regs = 0xFF0FFF if event.get("regs") else 0
        attrs.append(b.Attr(event["type"], event.get("config", 0), kind, [number + 1], regs_intr=regs))
    builder = b.Builder(attrs)
    for number, event in enumerate(events):
        for at in range(event.get("samples", 0)):
            values = [0] * attrs[number].regs_intr.bit_count()
            builder.sample(number, ip=0x1000 + at, tid=5, pid=5, time=at, addr=event.get("addr", 0), intr=values)
    Path(path).write_bytes(builder.file())


if arguments[:1] == ["version"]:
    print(f"perf version {plan['version']}")
elif arguments[:1] == ["inject"]:
    if plan["decodes"] is None:
        fail("inject: this perf was built without the decoder")
    write(option("-o")[0], [plan["decodes"]])
elif "--dry-run" in arguments:
    sys.exit(0 if plan["buildid_mmap"] else 1)
elif arguments[:1] == ["record"]:
    wanted = option("-e")
    for event in wanted:
        if event not in plan["events"]:
            fail(f"Error:\n{plan['refusal']}\n")
    if "-a" in arguments and plan["events"][wanted[0]].get("process_only"):
        fail("Error:\nnot for the whole machine\n")
    if "-a" not in arguments and plan["events"][wanted[0]].get("machine_only"):
        fail("Error:\nInvalid argument: this event cannot be bound to a process\n")
    controls = [part for part in arguments if part.startswith("--control=fd:")]
    if controls:
        stop = []
        signal.signal(signal.SIGINT, lambda *_: stop.append(1))
        read, answer = map(int, controls[0].partition(":")[2].split(","))
        os.read(read, 64)
        if plan["events"][wanted[0]].get("fails_to_attach"):
            fail("Error:\nToo many events are opened.\n")
        os.write(answer, b"ack\n\0")
        while not stop:
            time.sleep(0.01)
        if plan["events"][wanted[0]].get("dies"):
            fail("failed to write perf data, error: No space left on device")
    else:
        subprocess.run(arguments[arguments.index("--") + 1 :], check=False)
    write(option("-o")[0], [plan["events"][event] for event in wanted])
else:
    fail(f"not understood: {arguments}")
