"""What a kernel's administrator does is seldom: handlers that stand in tables of settings and nowhere else."""

from __future__ import annotations

import dataclasses
from pathlib import Path

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


def cold_functions(image: Image) -> set[str]:
    found = with_rarity(image)
    cold = {
        image.names[f["name"]] for f in found.functions if f["name"] >= 0 and int(f["flags"]) & int(FunctionFlag.COLD)
    }
    seldom = found.sites[found.sites["rarity"] >= SELDOM]
    assert {image.names[found.functions["name"][row]] for row in seldom["function"].tolist()} >= cold & {"set_limit"}
    return cold
