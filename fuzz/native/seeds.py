"""Makes the first inputs of the native fuzz targets: ``python -m fuzz.native.seeds``.

Owns which programs they come from and the form of the inputs (stated at the head of DebugPieces.h, unwind.cpp and
access.cpp).
Needs gcc, clang and a cross compiler; what they make differs between versions, so the results are kept in the
tree and this is run by hand.
"""

from __future__ import annotations

import hashlib
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from elftools.elf.elffile import ELFFile

CORPUS = Path(__file__).resolve().parent / "corpus"
C_SOURCE = """
struct s { int a : 3; unsigned long n; struct { char c[4]; } in[2]; union { int i; float f; }; struct s *next; };
typedef struct s s_t; enum e { A, B };
s_t v; static volatile long counter[3]; _Thread_local int own = 7; enum e mode; void (*hook)(int);
extern s_t *list; s_t *list = &v;
int main(int argc, char **argv) { static int calls; calls++;
  switch (argc) { case 0: counter[0]++; break; case 1: counter[1]--; break; case 2: v.n++; break;
  case 3: own++; break; case 4: mode = B; break; case 5: v.in[1].c[argc] = 1; break; }
  for (int i = 0; i < argc; i++) counter[i % 3] += i;
  __atomic_fetch_add(&counter[2], 1, __ATOMIC_SEQ_CST); return v.a + calls; }
"""
CXX_SOURCE = """
namespace ns { template <typename T, int N> struct box { T t[N]; static long made; box *next; virtual ~box() {} };
template <typename T, int N> long box<T, N>::made = 1; struct base { int b; };
struct derived : base { alignas(64) int d; };
box<int, 3> global; derived two; inline int shared; }
int main() { static ns::box<char, 2> local; return ns::global.t[0] + local.t[1] + ns::two.d + ns::shared
  + (int)ns::box<int, 3>::made; }
"""
UNWIND_SOURCE = """
extern int use(void *, ...) __attribute__((weak));
__attribute__((noinline)) int sized(int n) { char room[n]; return use(room, n) + room[0]; }
__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f, int g) {
  int sum = use(&a) + b; while (sum < g) sum += use(&sum, a, b, c, d, e, f) * e - f; return sum * c + d; }
int main(int argc, char **argv) { if (!argc) return 1; return sized(argc) + many(argc, 1, 2, 3, 4, 5, 6); }
"""
SECTIONS = ["info", "types", "abbrev", "str", "line_str", "str_offsets", "addr", "line", "cu_index", "tu_index"]
RELA, SECOND = 10, 0x10
LOCAL_SECTIONS = {0: ".debug_info", 1: ".debug_loc", 2: ".debug_abbrev", 3: ".debug_str", 4: ".debug_line_str",
                  5: ".debug_str_offsets", 6: ".debug_addr", 9: ".debug_ranges", 11: ".debug_loclists",
                  12: ".debug_rnglists", 13: ".debug_frame", 14: ".eh_frame", 15: ".debug_aranges"}  # fmt: skip
BIG, NARROW, RELOCATABLE, PACKAGE, ALL_RECORDS = 1, 2, 4, 8, 32
AARCH64, WHOLE_PLAN, MANY_FUNCTIONS, WHOLE_QUERY, RISCV = 1, 2, 8, 16, 32
QUERY_SHIFT = 6
MACHINE_SHIFT = 2
MAX_INPUT_BYTES = 8192


def keep(target: str, data: bytes) -> None:
    if len(data) > MAX_INPUT_BYTES:
        print(f"{target}: left out, {len(data)} bytes", file=sys.stderr)
        return
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha1(data, usedforsecurity=False).hexdigest()[:16]).write_bytes(data)


def compiled(folder: Path, compiler: str, source: str, *flags: str) -> Path:
    suffix = "cc" if compiler.endswith("++") or compiler.endswith("++-19") else "c"
    (folder / f"p.{suffix}").write_text(source)
    subprocess.run([compiler, "-o", "out", f"p.{suffix}", *flags], cwd=folder, check=True)
    return folder / "out"


def sections_of(path: Path, suffix: str) -> list[tuple[int, bytes]]:
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        out = []
        for number, name in enumerate(SECTIONS):
            bare = name.endswith("_index")
            section = elf.get_section_by_name(f".debug_{name}" + ("" if bare else suffix))
            if section is not None:
                out.append((number, section.data()))
        relocations = elf.get_section_by_name(".rela.debug_info")
        if relocations is not None and not suffix:
            out.append((RELA, relocations.data()))
        return out


def pieces(parts: list[tuple[int, bytes]], second: bool = False) -> bytes:
    flag = SECOND if second else 0
    return b"".join(struct.pack("<BH", number | flag, len(data)) + data for number, data in parts)


def text_of(path: Path) -> bytes:
    with path.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".text")
        return bytes(section.data()) if section is not None else b""


def stripped(path: Path) -> bytes:
    """The file without code that nothing here reads."""
    subprocess.run(
        ["objcopy", "-R", ".eh_frame", "-R", ".comment", "-R", ".note*", "-R", ".rela.eh_frame", path], check=True
    )
    return path.read_bytes()


def make_debug_inputs(folder: Path) -> None:
    compilers = (("gcc", C_SOURCE), ("clang-19", C_SOURCE), ("g++", CXX_SOURCE), ("clang++-19", CXX_SOURCE))
    for compiler, source in compilers:
        for version in ("-gdwarf-2", "-gdwarf-4", "-gdwarf-5"):
            path = compiled(folder, compiler, source, version, "-c")
            parts = sections_of(path, "")
            keep("dwarf", bytes([RELOCATABLE | ALL_RECORDS]) + pieces(parts))
            keep("dwarf", bytes([ALL_RECORDS]) + pieces([p for p in parts if p[0] != RELA]))
            keep("elf", stripped(path))
    for flags in (("-gz=zlib",), ("-gz=zstd",), ("-fdebug-types-section",), ("-gdwarf64",)):
        keep("elf", stripped(compiled(folder, "clang++-19", CXX_SOURCE, "-g", "-c", *flags)))
    keep("elf", stripped(compiled(folder, "gcc", C_SOURCE, "-g", "-c", "-m32")))
    for flags in (("-gdwarf-4",), ("-gdwarf-5",)):
        path = compiled(folder, "clang-19", C_SOURCE, "-gsplit-dwarf", "-c", *flags)
        whole = compiled(folder, "clang-19", C_SOURCE, "-gsplit-dwarf=single", "-c", *flags)
        keep("elf", stripped(whole))
        for dwo in folder.glob("*.dwo"):
            split = pieces(sections_of(path, "")) + pieces(sections_of(dwo, ".dwo"), second=True)
            keep("dwarf", bytes([RELOCATABLE]) + split)
            keep("dwarf", bytes([PACKAGE]) + split)
    big = compiled(folder, "clang-19", C_SOURCE, "-g", "-c", "--target=powerpc64-linux-gnu", "-ffreestanding")
    keep("elf", big.read_bytes())
    keep("dwarf", bytes([BIG | RELOCATABLE]) + pieces(sections_of(big, "")))


def make_local_inputs(folder: Path) -> None:
    """Linked where locals.cpp asks; without frames of their own in .eh_frame, whose addresses are not made again."""
    linked = ("-nostdlib", "-static", "-Wl,-Ttext=0x401000", "-Wl,-e,main", "-fno-asynchronous-unwind-tables", "-g")
    for compiler in ("gcc", "clang-19"):
        for flags in (
            ("-O0", "-gdwarf-4"),
            ("-O2", "-gdwarf-4"),
            ("-O2", "-gdwarf-5"),
            ("-O1", "-fomit-frame-pointer"),
        ):
            path = compiled(folder, compiler, C_SOURCE, *linked, *flags)
            with path.open("rb") as stream:
                elf = ELFFile(stream)
                found = ((number, elf.get_section_by_name(name)) for number, name in LOCAL_SECTIONS.items())
                parts = [(number, section.data()) for number, section in found if section is not None]
            keep("locals", bytes([0]) + pieces(parts))


def make_unwind_inputs(folder: Path) -> None:
    """Code and frames stand where unwind.cpp asks and puts them."""
    placed = ("-nostdlib", "-static", "-Wl,-Ttext=0x401000", "-Wl,--section-start=.eh_frame=0x408000", "-Wl,-e,main")
    for compiler, machine in (("gcc", 0), ("clang-19", 0), ("aarch64-linux-gnu-gcc", 1), ("riscv64-linux-gnu-gcc", 2)):
        for flags in (
            ("-O0", "-fasynchronous-unwind-tables"),
            ("-O2", "-fasynchronous-unwind-tables", "-fstack-clash-protection"),
            ("-O2", "-g", "-fno-asynchronous-unwind-tables"),
            ("-O1", "-g", "-fno-asynchronous-unwind-tables", "-fomit-frame-pointer"),
        ):
            if compiler == "riscv64-linux-gnu-gcc" and "-fstack-clash-protection" in flags:
                continue
            path = compiled(folder, compiler, UNWIND_SOURCE, *placed, *flags)
            with path.open("rb") as stream:
                elf = ELFFile(stream)
                sections = [elf.get_section_by_name(name) for name in (".eh_frame", ".debug_frame")]
                eh_frame, debug_frame = (b"" if section is None else section.data() for section in sections)
            keep("unwind", struct.pack("<BH", machine << MACHINE_SHIFT, len(eh_frame)) + eh_frame + debug_frame)


def make_code_inputs(folder: Path) -> None:
    for compiler, source, arch in (
        ("gcc", C_SOURCE, 0),
        ("g++", CXX_SOURCE, 0),
        ("clang-19", C_SOURCE, 0),
        ("aarch64-linux-gnu-gcc", C_SOURCE, AARCH64),
        ("aarch64-linux-gnu-g++", CXX_SOURCE, AARCH64),
        ("riscv64-linux-gnu-gcc", C_SOURCE, RISCV),
        ("riscv64-linux-gnu-g++", CXX_SOURCE, RISCV),
    ):
        for flags in (("-O0",), ("-O2",), ("-O2", "-fpic")):
            code = text_of(compiled(folder, compiler, source, "-c", *flags))
            for switches in (0, 4, MANY_FUNCTIONS, *(kind << QUERY_SHIFT for kind in (1, 2, 3))):
                keep("access", bytes([arch | switches]) + code)
    code = text_of(compiled(folder, "gcc", C_SOURCE, "-c", "-O2"))
    head = struct.pack("<8sIIQQQQQQ", b"LMPLAN2\0", 1, 1, 1, 1, 1, 2, 1, 1)
    rows = struct.pack("<QQQ", 0x401000, 0, len(code)) + struct.pack("<QQ", 0x402000, 0x100)
    rows += struct.pack("<QQQ", 0x401000, 0, len(code))
    for row in range(2):
        rows += struct.pack("<QQIi", 0x401000 + 64 * row, 64, 0, row)
    rows += struct.pack("<QQ", 0x402010, 0x401000)
    rows += struct.pack("<QQII", 0x401004, 0x401010, 1, 0)
    keep("access", bytes([WHOLE_PLAN]) + struct.pack("<H", len(head + rows)) + head + rows + code)
    make_queries(code)


def make_queries(code: bytes) -> None:
    """One of each kind, over a function and its second half."""
    half, start = len(code) // 2, 0x401000
    functions = struct.pack("<QQQQ", start, half, start + half, len(code) - half)
    asked = b"".join(struct.pack("<QiI", start + at, at // half, 0) for at in range(0, 2 * half, 3))
    for kind in (1, 2, 3):
        rows = asked if kind == 1 else b""
        head = struct.pack("<8sIIQQibbHQQ", b"LMQUERY1", 1, kind, start, start << 1, 202, 0, 4, 0, 2, len(rows) // 16)
        keep("access", bytes([WHOLE_QUERY]) + head + functions + rows + code)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        make_debug_inputs(Path(name))
        make_local_inputs(Path(name))
        make_unwind_inputs(Path(name))
        make_code_inputs(Path(name))


if __name__ == "__main__":
    main()
