"""Debug information that is not simply in the file: split, packed, shared, separated, compressed, relocatable."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from elfscan.debug.debugfile import DebugLinks, find_debug, parse_altlink, parse_debuglink
from sharing.model import Malformed

SOURCE = """\
struct shared { int a; long b; };
static struct shared first = {1, 2};
struct shared second;
__thread long per_thread;
int main(int argc, char **argv) { static int calls; first.a += argc; second = first; return ++calls + per_thread; }
"""
EXPECTED = {"first": 16, "second": 16, "calls": 4, "per_thread": 8}


def found(program):
    return {v.name: program.types.size(v.type) for v in program.document.variables if v.name in EXPECTED}


def compile_here(run, directory: Path, *flags: str, compiler: str = "gcc", source: str = SOURCE, name: str = "program"):
    (directory / f"{name}.c").write_text(source)
    run(compiler, "-g", "-o", name, f"{name}.c", *flags, cwd=directory)
    return directory / name


SPLIT = [(c, f) for c in ("gcc", "clang-19") for f in ("-gdwarf-4", "-gdwarf-5")]


class TestSplit:
    @pytest.mark.parametrize(("compiler", "version"), SPLIT)
    def test_the_dwo_is_found_by_the_compilation_directory(self, run, read, tmp_path, compiler, version):
        path = compile_here(run, tmp_path, "-gsplit-dwarf", version, compiler=compiler)
        program = read(path)
        assert found(program) == EXPECTED
        assert program["calls"].function == "main"
        assert program.document.problems == []

    @pytest.mark.parametrize(("compiler", "version"), SPLIT)
    def test_the_dwo_is_found_beside_a_moved_binary(self, run, read, tmp_path, compiler, version):
        old, new = tmp_path / "old", tmp_path / "new"
        old.mkdir()
        compile_here(run, old, "-gsplit-dwarf", version, compiler=compiler)
        old.rename(new)
        assert found(read(new / "program")) == EXPECTED

    # llvm-dwp 19 does not end on gcc's DWARF 5.
    @pytest.mark.parametrize(("compiler", "version"), [pair for pair in SPLIT if pair != ("gcc", "-gdwarf-5")])
    def test_units_come_from_a_package(self, run, read, tmp_path, compiler, version):
        path = compile_here(run, tmp_path, "-gsplit-dwarf", version, compiler=compiler)
        run("llvm-dwp-19", "-e", path, "-o", tmp_path / "elsewhere.dwp")
        for dwo in tmp_path.glob("*.dwo"):
            dwo.unlink()
        assert found(read(path)) == {}
        assert found(read(path, dwp=str(tmp_path / "elsewhere.dwp"))) == EXPECTED
        (tmp_path / "elsewhere.dwp").rename(tmp_path / "program.dwp")
        assert found(read(path)) == EXPECTED

    def test_packages_keep_units_with_their_own_strings_and_types(self, run, read, tmp_path):
        for i in range(3):
            main = "int main(void) { return 0; }" if i == 0 else ""
            text = f"struct s{i} {{ char c[{i + 1}]; }}; struct s{i} variable_{i} = {{1}};\n{main}"
            (tmp_path / f"u{i}.cc").write_text(text)
        sources = [f"u{i}.cc" for i in range(3)]
        flags = ["-gsplit-dwarf", "-gdwarf-5", "-fdebug-types-section"]
        run("clang++-19", "-g", *flags, "-o", "program", *sources, cwd=tmp_path)
        run("llvm-dwp-19", "-e", tmp_path / "program", "-o", tmp_path / "program.dwp")
        for dwo in tmp_path.glob("*.dwo"):
            dwo.unlink()
        program = read(tmp_path / "program")
        assert [program.types.size(program[f"variable_{i}"].type) for i in range(3)] == [1, 2, 3]

    def test_a_missing_dwo_is_reported_and_not_fatal(self, run, read, tmp_path):
        path = compile_here(run, tmp_path, "-gsplit-dwarf")
        for dwo in tmp_path.glob("*.dwo"):
            dwo.unlink()
        program = read(path)
        assert found(program) == {}
        ((_, _, reason),) = program.document.problems
        assert ".dwo" in reason
        assert "not found" in reason

    def test_a_dwo_of_another_build_is_refused(self, run, read, tmp_path):
        path = compile_here(run, tmp_path, "-gsplit-dwarf")
        (dwo,) = tmp_path.glob("*.dwo")
        other = tmp_path / "other"
        other.mkdir()
        compile_here(run, other, "-gsplit-dwarf", source=SOURCE.replace("second", "another"))
        shutil.copy(next(other.glob("*.dwo")), dwo)
        program = read(path)
        assert found(program) == {}
        assert any("id" in reason for _, _, reason in program.document.problems)


@pytest.fixture
def dwz_pair(run, tool, tmp_path):
    """Two programs whose common entries dwz moved to a third file."""
    tool("dwz")
    filler = "".join(f"struct filler{i} {{ int a{i}; struct shared s; }}; struct filler{i} f{i};\n" for i in range(60))
    source = SOURCE.replace("int main", filler + "int main")
    for name in ("one", "two"):
        compile_here(run, tmp_path, "-gdwarf-4", source=source, name=name)
    run("dwz", "-m", tmp_path / "common.debug", "-M", "common.debug", tmp_path / "one", tmp_path / "two")
    return tmp_path


class TestDwz:
    def test_names_and_types_come_from_the_common_file(self, read, dwz_pair):
        program = read(dwz_pair / "one", alt=str(dwz_pair / "common.debug"))
        assert found(program) == EXPECTED
        assert program["calls"].function == "main"
        assert set(program.leaves("f7")) == {"a7", "s.a", "s.b"}
        assert program.document.problems == []

    def test_the_common_file_is_found_by_its_link(self, run, dwz_pair):
        path = dwz_pair / "one"
        run("objcopy", "--dump-section", f".gnu_debugaltlink={dwz_pair / 'link'}", path)
        link = parse_altlink((dwz_pair / "link").read_bytes())
        files = find_debug(str(path), DebugLinks(altlink=link, has_dwarf=True))
        assert files.alt == str(dwz_pair / "common.debug")

    def test_a_common_file_of_another_build_is_refused(self, dwz_pair):
        link = ("common.debug", "00" * 20)
        files = find_debug(str(dwz_pair / "one"), DebugLinks(altlink=link, has_dwarf=True))
        assert files.alt is None
        assert any("build-id" in p for p in files.problems)
        assert any("was not found" in p for p in files.problems)

    def test_entries_moved_within_one_file_are_followed(self, run, tool, read, tmp_path):
        tool("dwz")
        (tmp_path / "common.h").write_text("struct common { int a; long b[4]; char *c; };")
        for i in range(4):
            main = SOURCE if i == 0 else ""
            (tmp_path / f"u{i}.c").write_text(f'#include "common.h"\nstruct common v{i} = {{1}};\n{main}')
        run("gcc", "-g", "-o", "program", *(f"u{i}.c" for i in range(4)), cwd=tmp_path)
        run("dwz", tmp_path / "program")
        program = read(tmp_path / "program")
        assert found(program) == EXPECTED
        assert len({program[f"v{i}"].type for i in range(4)}) == 1


@pytest.mark.parametrize("kind", ["zlib", "zstd"])
def test_compressed_sections_are_read(run, read, tmp_path, kind):
    path = compile_here(run, tmp_path)
    run("llvm-objcopy-19", f"--compress-debug-sections={kind}", path)
    assert found(read(path)) == EXPECTED


@pytest.mark.parametrize("version", ["-gdwarf-4", "-gdwarf-5"])
@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
@pytest.mark.parametrize("linked", [True, False])
def test_types_come_from_type_units(compiled, compiler, version, linked):
    source = "namespace n { struct inner { int i; }; struct outer { inner in[2]; long l; }; } n::outer object = {};\n"
    source += "int main() { return object.in[0].i; }\n"
    program = compiled(compiler, "cc", source, version, "-fdebug-types-section", *([] if linked else ["-c"]))
    assert program.leaves("object") == {"in[].i": (0, 4), "l": (8, 8)}
    assert program.types.name(program["object"].type) == "n::outer"
    assert program.document.problems == []


class TestRelocatable:
    TARGETS = (
        "x86_64",
        "i386",
        "aarch64",
        "armv7",
        "riscv64",
        "powerpc64",
        "powerpc64le",
        "s390x",
        "sparc64",
        "mips64",
        "mips",
    )

    @pytest.mark.parametrize("version", ["-gdwarf-4", "-gdwarf-5"])
    @pytest.mark.parametrize("target", TARGETS)
    def test_addresses_are_offsets_in_their_section(self, compiled, run, target, version):
        source = "int a = 1, b = 2; int c[8]; static int d = 3; int main(void) { return a + b + c[0] + d; }\n"
        flags = [f"--target={target}-linux-gnu", version, "-c", "-fdata-sections"]
        program = compiled("clang-19", "c", source, *flags)
        rows = [r.split() for r in run("llvm-readelf-19", "-sW", program.path).splitlines()]
        symbols = {r[7]: (int(r[6]), int(r[1], 16)) for r in rows if len(r) == 8 and r[3] == "OBJECT"}
        for name in "abcd":
            assert (program[name].section, program[name].address) == symbols[name], name

    def test_split_objects_find_their_address_table(self, run, read, tmp_path):
        path = compile_here(run, tmp_path, "-gsplit-dwarf", "-c", compiler="clang-19", name="object")
        assert found(read(path)) == EXPECTED

    def test_a_linked_file_that_kept_its_relocations_is_not_relocated_again(self, run, read, tmp_path, addresses):
        path = compile_here(run, tmp_path, "-Wl,--emit-relocs", "-no-pie")
        assert read(path)["second"].address == addresses(path)["second"]


@pytest.fixture
def separated(run, tmp_path):
    """A stripped program with a debug link, and its debug file."""
    path = compile_here(run, tmp_path, "-Wl,--build-id=sha1")
    debug = tmp_path / "program.debug"
    run("objcopy", "--only-keep-debug", path, debug)
    run("objcopy", "--strip-debug", f"--add-gnu-debuglink={debug}", path)
    run("objcopy", "--dump-section", f".gnu_debuglink={tmp_path / 'link'}", path)
    link = parse_debuglink((tmp_path / "link").read_bytes(), "little")
    (line,) = [line for line in run("readelf", "-n", path).splitlines() if "Build ID" in line]
    return path, debug, line.split()[-1], link


class TestSeparate:
    def look(self, separated, roots=(), explicit=None, build_id=True):
        path, _, own, link = separated
        links = DebugLinks(build_id=own if build_id else None, debuglink=link)
        return find_debug(str(path), links, explicit=explicit, roots=roots)

    def test_its_variables_have_addresses_although_its_sections_are_empty(self, read, separated):
        assert found(read(separated[1])) == EXPECTED

    def test_beside_the_binary(self, separated):
        files = self.look(separated)
        assert files.main == str(separated[1])
        assert "debug link" in files.how

    def test_in_the_debug_folder_beside_it(self, separated):
        path, debug, _, _ = separated
        (path.parent / ".debug").mkdir()
        moved = debug.rename(path.parent / ".debug" / debug.name)
        assert self.look(separated).main == str(moved)

    def test_in_the_system_directory(self, separated):
        path, debug, _, _ = separated
        root = path.parent / "root"
        place = root / str(path.parent).lstrip("/")
        place.mkdir(parents=True)
        moved = debug.rename(place / debug.name)
        assert self.look(separated, roots=(str(root),)).main == str(moved)

    def test_by_build_id_first(self, separated):
        path, debug, build_id, _ = separated
        place = path.parent / "root" / ".build-id" / build_id[:2]
        place.mkdir(parents=True)
        copy = shutil.copy(debug, place / f"{build_id[2:]}.debug")
        files = self.look(separated, roots=(str(path.parent / "root"),))
        assert files.main == str(copy)
        assert "build-id" in files.how

    @pytest.mark.parametrize("ending", ["", ".debug"])
    def test_by_path_where_there_is_no_link(self, separated, ending):
        """As Debian's kernel modules; one that is unpacked elsewhere by the path that it is installed at."""
        path, debug, build_id, _ = separated
        modules = path.parent / "unpacked" / "lib" / "modules" / "6.1"
        modules.mkdir(parents=True)
        module = path.rename(modules / path.name)
        place = path.parent / "root" / "lib" / "modules" / "6.1"
        place.mkdir(parents=True)
        moved = debug.rename(place / f"{path.name}{ending}")
        links = DebugLinks(build_id=build_id)
        files = find_debug(str(module), links, roots=(str(path.parent / "root"),))
        assert (files.main, "path" in files.how) == (str(moved), True)
        other = find_debug(str(module), DebugLinks(build_id="00" * 20), roots=(str(path.parent / "root"),))
        assert other.main is None
        assert any("build-id" in problem for problem in other.problems)
        assert find_debug(str(module), DebugLinks(build_id=None), roots=(str(path.parent / "root"),)).main is None

    def test_a_wrong_crc_is_refused(self, separated):
        _, debug, _, _ = separated
        debug.write_bytes(debug.read_bytes() + b"\0")
        files = self.look(separated)
        assert files.main is None
        assert any("CRC" in p for p in files.problems)

    def test_a_wrong_build_id_is_refused(self, separated, run, tmp_path):
        path, _, build_id, _ = separated
        other = tmp_path / "other"
        other.mkdir()
        stranger = compile_here(run, other, "-Wl,--build-id=0x1234567890abcdef")
        place = path.parent / "root" / ".build-id" / build_id[:2]
        place.mkdir(parents=True)
        shutil.copy(stranger, place / f"{build_id[2:]}.debug")
        files = find_debug(str(path), DebugLinks(build_id=build_id), roots=(str(tmp_path / "root"),))
        assert files.main is None
        assert any("1234567890abcdef" in p for p in files.problems)

    def test_a_link_with_a_path_is_not_followed(self, separated):
        path, _, _, (name, crc) = separated
        files = find_debug(str(path), DebugLinks(debuglink=(f"../{path.parent.name}/{name}", crc)))
        assert files.main is None

    def test_an_explicit_file_wins(self, separated, tmp_path):
        copy = shutil.copy(separated[1], tmp_path / "chosen")
        assert self.look(separated, explicit=str(copy)).main == str(copy)

    def test_an_explicit_file_of_another_binary_is_an_error(self, separated, run, tmp_path):
        other = tmp_path / "other"
        other.mkdir()
        stranger = compile_here(run, other, "-Wl,--build-id=0x1234567890abcdef")
        with pytest.raises(Malformed, match="another binary: build-id 1234567890abcdef"):
            self.look(separated, explicit=str(stranger))

    def test_an_explicit_file_without_build_id_is_checked_by_crc(self, separated, run, tmp_path):
        other = tmp_path / "other"
        other.mkdir()
        stranger = compile_here(run, other, "-Wl,--build-id=none")
        with pytest.raises(Malformed, match="another binary: CRC"):
            self.look(separated, explicit=str(stranger))

    @pytest.mark.parametrize(
        ("content", "why"),
        [(b"", "not a sound ELF"), (b"text", "not a sound ELF"), (None, "No such file|not a regular")],
    )
    def test_an_explicit_file_that_is_unusable_is_one_clear_error(self, separated, tmp_path, content, why):
        path = tmp_path / "bad"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(Malformed, match=why):
            self.look(separated, explicit=str(path))

    def test_an_explicit_file_without_debug_information_is_taken_for_its_symbols(self, separated):
        found = self.look(separated, explicit=str(separated[0]))
        assert found.main is None
        assert found.symbols is not None
        assert found.symbols.path == str(separated[0])
        assert "its symbols alone" in found.problems[0]

    def test_an_explicit_file_without_debug_information_or_symbols_is_an_error(self, separated, run, tmp_path):
        run("strip", "-s", "-o", tmp_path / "bare", separated[0])
        with pytest.raises(Malformed, match="neither debug information nor symbols"):
            self.look(separated, explicit=str(tmp_path / "bare"))

    def test_a_package_beside_the_binary_is_named(self, separated):
        path = separated[0]
        package = path.parent / f"{path.name}.dwp"
        package.write_bytes(b"")
        assert self.look(separated).dwp == str(package)


@pytest.mark.parametrize("data", [b"", b"\0", b"name", b"name\0", b"name\0\0\0\0\1\2\3", b"\0\0\0\0\0\0\0\0"])
def test_damaged_links_are_no_links(data):
    assert parse_debuglink(data, "little") is None


def test_links_are_read_in_the_files_byte_order():
    data = b"abc.debug\0\0\0" + bytes([1, 2, 3, 4])
    assert parse_debuglink(data, "little") == ("abc.debug", 0x04030201)
    assert parse_debuglink(data, "big") == ("abc.debug", 0x01020304)


@pytest.mark.parametrize("data", [b"", b"\0id", b"name\0", b"name", b"name\0" + b"x" * 65])
def test_damaged_common_file_links_are_no_links(data):
    assert parse_altlink(data) is None
