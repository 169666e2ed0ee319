"""What a kernel's administrator does is seldom: handlers that stand in tables of settings and nowhere else."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from elfscan.image import read_images
from sharing.basics.numbers import SELDOM
from sharing.model import FunctionFlag, Image, ImageKind
from sharing.static.rarecode import with_rarity
from tests.sharing.conftest import Compile

TABLES = """
struct ctl_table { const char *name; int (*proc_handler)(int); };
struct file_operations { int (*write)(int); };
struct device_attribute { int (*show)(int); int (*store)(int); };
typedef struct device_attribute attribute_t;
int limit, shown, served, called, mixed;
static int set_limit(int v) { return limit = v; }
static int show(int v) { return shown = v; }
static int serve(int v) { return served = v; }
static int call(int v) { return called = v; }
static int both(int v) { return mixed = v; }
struct ctl_table settings[2] = {{"limit", set_limit}, {"both", both}};
attribute_t attribute = {show, call};
struct file_operations served_file = {serve};
struct file_operations mixed_file = {both};
__attribute__((noinline)) int work(int v) { return call(v) + v; }
int main(int n, char **v) { return work(n); }
"""


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_handlers_of_settings_are_cold(compiled: Compile, tool: str) -> None:
    program: Path = compiled(tool, "c", TABLES, "-O1", "-g", "-fno-inline", "-fno-pie", "-no-pie")
    image = next(read_images(str(program)))
    cold = cold_functions(dataclasses.replace(image, kind=ImageKind.KERNEL))
    assert {"set_limit", "show"} <= cold  # in an array of settings, in an attribute of a typedef's name
    assert not {"serve", "call", "both"} & cold  # in another table, called directly, in both kinds of tables
    assert not {"set_limit", "show"} & cold_functions(image)  # a program has no such tables


SHOWN = """
struct file_operations { int (*write)(int); };
struct notifier_block { int (*call)(int); };
int changed, told, served, helped, mixed, given, driven;
static int change(int v) { return changed = v; }
static int notify(int v) { return told = v; }
static int serve(int v) { return served = v; }
int deep(int v) { return helped = v; }
static int help(int v) { return deep(v); }
int both(int v) { return mixed = v; }
int for_modules(int v) { return given = v; }
int for_drivers(int v) { return driven = v; }
static int again(int v) { return for_drivers(v) + 1; }
static int changes(int v) { return help(v) + both(v) + for_modules(v) + for_drivers(v) + again(v); }
struct file_operations change_file = {change}, changes_file = {changes}, serve_file = {serve};
struct notifier_block block = {notify};
struct file_operations *anybodys = &serve_file;
__attribute__((noipa)) void debugfs_create_file(const char *name, struct file_operations *file) {}
__attribute__((noinline)) int work(int v) { return both(v) + v; }
int main(int n, char **v) {
  debugfs_create_file("a", &change_file);
  debugfs_create_file("b", &changes_file);
  debugfs_create_file("c", &serve_file);
  return work(n);
}
"""


GLOBAL = ("deep", "both", "for_modules", "for_drivers", "work", "main")


def test_what_only_seldom_code_calls_is_seldom(compiled: Compile) -> None:
    """A file for an administrator is one by who makes it of its table, whatever the table's type."""
    program: Path = compiled("gcc", "c", SHOWN, "-O1", "-g", "-fno-inline", "-fpie", "-pie")
    cold = cold_functions(as_kernel(next(read_images(str(program))), "for_modules", "for_drivers"))
    assert {"change", "changes", "notify"} <= cold  # in tables that make files of it, or are told of changes
    assert {"help", "deep"} <= cold  # called by such alone, also over several calls, global or not
    assert not {"serve", "both", "work"} & cold  # stored elsewhere, called by others
    # Of what modules call as well several callers speak for those, one does not.
    assert "for_drivers" in cold
    assert "for_modules" not in cold


def test_without_a_table_of_exports_anybody_may_be_called(compiled: Compile) -> None:
    program: Path = compiled("gcc", "c", SHOWN, "-O1", "-g", "-fno-inline", "-fpie", "-pie")
    cold = cold_functions(as_kernel(next(read_images(str(program)))))
    assert {"changes", "help", "for_drivers"} <= cold
    assert "deep" not in cold  # global, and called once


def as_kernel(image: Image, *exported: str) -> Image:
    """The program as if it were a kernel, whose units may call what is global, that exports some of it to modules."""
    functions = image.functions.copy()
    for flag, names in ((FunctionFlag.EXPORTED, GLOBAL), (FunctionFlag.FOR_MODULES, exported)):
        named = [name >= 0 and image.names[name] in names for name in functions["name"].tolist()]
        functions["flags"][named] |= np.uint32(flag)
    return dataclasses.replace(image, kind=ImageKind.KERNEL, functions=functions)


def cold_functions(image: Image) -> set[str]:
    found = with_rarity(image)
    cold = {
        image.names[f["name"]] for f in found.functions if f["name"] >= 0 and int(f["flags"]) & int(FunctionFlag.COLD)
    }
    seldom = found.sites[found.sites["rarity"] >= SELDOM]
    assert {image.names[found.functions["name"][row]] for row in seldom["function"].tolist()} >= cold & {"set_limit"}
    return cold
