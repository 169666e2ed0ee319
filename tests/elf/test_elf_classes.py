"""Families of classes, by type information in files without symbols."""

from __future__ import annotations

import pytest

from elfscan.code.classes import classes
from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.fileformat.placement import open_program
from sharing.model.classes import Classes
from tests.elf.conftest import Build

TEXT = """
struct Shape { virtual ~Shape(); virtual void draw(); };
struct Circle : Shape { void draw() override; };
struct Codec { virtual ~Codec(); virtual void encode(); };
struct Lz : Codec { void encode() override; };
struct Sink { virtual ~Sink(); virtual void put(); };
struct Source { virtual ~Source(); virtual void get(); };
struct Pipe : Sink, Source { void put() override; };
struct Far { virtual ~Far(); virtual void go(); };                                 // another file's
struct Near : Far { void go() override; };
struct Left : virtual Near { virtual void turn(); };
namespace { struct Hidden { virtual void work(); }; void Hidden::work() {} }
namespace part { namespace { struct Hidden { virtual void work(); }; void Hidden::work() {} } }
Shape::~Shape() {}
void Shape::draw() {}
void Circle::draw() {}
Codec::~Codec() {}
void Codec::encode() {}
void Lz::encode() {}
Sink::~Sink() {}
void Sink::put() {}
Source::~Source() {}
void Source::get() {}
void Pipe::put() {}
void Near::go() {}
void Left::turn() {}
void *hidden() { return new Hidden; }
void *other() { return new part::Hidden; }
"""


def _read(path: str) -> Classes:
    return classes(open_program(ElfFile(path, map_file(path))))


@pytest.mark.parametrize("compiler", ["g++", "clang++-19", "aarch64-linux-gnu-g++"])
def test_classes_are_joined_by_their_bases(build: Build, compiler: str) -> None:
    found = _read(str(build(TEXT, compiler, "-shared", "-fPIC", "-O1", "-nostdlib", "-s", suffix=".cc")))
    of = found.names
    assert of["5Shape"] == of["6Circle"]
    assert of["5Codec"] == of["2Lz"]
    assert of["4Sink"] == of["4Pipe"] == of["6Source"], "one of several bases is as good as another"
    assert of["3Far"] == of["4Near"] == of["4Left"], "of another file, and virtual"
    assert len({of[name] for name in ("5Shape", "5Codec", "4Sink", "3Far")}) == 4
    assert set(found.tables.values()) >= set(of.values()) - {of["3Far"]}


def test_a_name_says_nothing_of_classes_of_several_families(build: Build) -> None:
    unit = "namespace { struct Job { virtual void work(); }; void Job::work() {} } void *NAME() { return new Job; }"
    other = build(unit.replace("NAME", "other"), "g++", "-c", "-fPIC", suffix=".cc", name="other.o")
    found = _read(str(build(unit.replace("NAME", "own"), "g++", "-shared", "-fPIC", str(other), suffix=".cc")))
    assert len(set(found.tables.values())) == 2
    assert not [name for name in found.names if "Job" in name]


def test_a_file_without_classes_has_none(build: Build) -> None:
    assert _read(str(build("int main(void) { return 0; }", "gcc"))) == Classes()
