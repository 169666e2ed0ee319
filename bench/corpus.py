"""Programs of a wanted size, for benchmarks over file size.

Owns one generated unit of C with about a megabyte of code and debug information, and linking it many times
under other names: every megabyte of the result is like the others, so that time per megabyte means something.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from bench.measure import Unavailable
from bench.places import tool

_STRUCTS = 130
_FUNCTIONS = 1050


def unit_source() -> str:
    """C with structs, locks, counters and functions that use them; the same text every time."""
    lines = ["#include <pthread.h>", "extern void consume(long);"]
    for i in range(_STRUCTS):
        lines += [
            f"struct record_{i} {{ pthread_mutex_t lock; long count_{i}; struct record_{(i + 1) % _STRUCTS} *next_{i};",
            f"  int values_{i}[{i % 7 + 2}]; unsigned flag_{i} : 3; char name_{i}[{i % 13 + 4}]; }};",
            f"struct record_{i} global_{i};",
            f"static long hits_{i}; long limit_{i} = {i + 1};",
        ]
    for i in range(_FUNCTIONS):
        a, b = i % _STRUCTS, (i * 7 + 3) % _STRUCTS
        lines += [
            f"long work_{i}(long argument, struct record_{a} *passed) {{",
            f"  long sum = limit_{b};",
            f"  if (argument > {i}) {{ pthread_mutex_lock(&global_{a}.lock); global_{a}.count_{a}++;",
            f"    global_{a}.next_{a} = &global_{(a + 1) % _STRUCTS}; pthread_mutex_unlock(&global_{a}.lock); }}",
            f"  for (long k = 0; k < argument; k++) {{ sum += global_{b}.values_{b}[k & 1]; consume(k + sum); }}",
            f"  __atomic_fetch_add(&hits_{b}, sum, __ATOMIC_RELAXED);",
            f"  passed->count_{a} += sum + hits_{a};",
            f"  return sum + global_{b}.flag_{b};",
            "}",
        ]
    return "\n".join(lines) + "\n"


def programs(folder: Path, sizes_mb: tuple[int, ...]) -> dict[int, Path]:
    """Programs of about these sizes in 10^6 bytes, and a minimal one at 0; made once and kept in ``folder``."""
    gcc, objcopy = tool("gcc", "gcc"), tool("objcopy", "binutils")
    linker = ["-fuse-ld=lld"] if shutil.which("ld.lld") else []
    if not linker and shutil.which("ld.lld-19"):
        linker = [f"-B{_lld_folder(folder)}", "-fuse-ld=lld"]
    out = {size: folder / f"program-{size}" for size in (0, *sizes_mb)}
    if all(path.exists() for path in out.values()):
        return out
    free = shutil.disk_usage(folder).free
    if free < 4e6 * max(sizes_mb):
        raise Unavailable(f"{free / 1e6:.0f} MB free: the programs need {4 * max(sizes_mb)} MB meanwhile")

    (folder / "main.c").write_text("void consume(long value) { (void)value; }\nint main(void) { return 0; }\n")
    (folder / "unit.c").write_text(unit_source())
    _do(gcc, "-O1", "-g", "-c", folder / "main.c", "-o", folder / "main.o")
    _do(gcc, "-O1", "-g", "-c", folder / "unit.c", "-o", folder / "unit.o")
    _do(gcc, *linker, folder / "main.o", "-o", out[0])
    names = ["main.o"]
    # What one more copy adds, from a link of one.
    _link(gcc, linker, folder, [*names, _copy(objcopy, folder, 0)], folder / "one")
    step = (folder / "one").stat().st_size - out[0].stat().st_size
    for size in sorted(sizes_mb):
        wanted = max(1, round(size * 1e6 / step))
        names += [_copy(objcopy, folder, number) for number in range(len(names) - 1, wanted)]
        _link(gcc, linker, folder, names, out[size])
    for leftover in (*folder.glob("copy-*.o"), folder / "one"):
        leftover.unlink()
    return out


def _lld_folder(folder: Path) -> Path:
    # gcc looks for `ld.lld`, Debian calls it by its version.
    folder = folder / "lld"
    folder.mkdir(exist_ok=True)
    link = folder / "ld.lld"
    if not link.exists():
        link.symlink_to(str(shutil.which("ld.lld-19")))
    return folder


def _copy(objcopy: str, folder: Path, number: int) -> str:
    name = f"copy-{number}.o"
    table = folder / "rename"
    # Imports keep their names; everything this unit defines gets its own.
    defined = [f"{kind}_{i}" for kind, count in _DEFINED for i in range(count)]
    table.write_text("".join(f"{symbol} c{number}_{symbol}\n" for symbol in defined))
    _do(objcopy, f"--redefine-syms={table}", folder / "unit.o", folder / name)
    return name


_DEFINED = (("global", _STRUCTS), ("hits", _STRUCTS), ("limit", _STRUCTS), ("work", _FUNCTIONS))


def _link(gcc: str, linker: list[str], folder: Path, names: list[str], out: Path) -> None:
    listing = folder / "objects"
    listing.write_text("\n".join(str(folder / name) for name in names))
    partial = out.with_suffix(".new")
    _do(gcc, *linker, "-pthread", f"@{listing}", "-o", partial)
    partial.replace(out)


def _do(*command: str | Path) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise Unavailable(f"{Path(command[0]).name} failed while making a program: {last}")
