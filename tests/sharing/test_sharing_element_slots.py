"""Handlers in the elements of a static array, which a number chooses, are called where one is taken from there."""

from __future__ import annotations

import pytest

from elfscan.image import read_images
from sharing.static.pointercalls import KeptFunctions
from tests.sharing.conftest import Compile

# Handlers by the type of a message, registered at start; each has a second function, which is called elsewhere.
REGISTERED = """
#include <stdlib.h>
#define APART __attribute__((noinline))
struct handler { int (*handle)(int); const char *name; int (*stop)(int); };
STORED
static volatile int chosen;
long got, put, ended;
static APART int on_get(int n) { got += n; return n + 1; }
static APART int on_put(int n) { put += n; return n + 2; }
static APART int on_end(int n) { ended += n; return n + 3; }
static APART int nobody(int n) { return n * 7; }
int (*volatile other)(int) = nobody;
APART int serve(int type) {
  struct handler *handler = (struct handler *)&handlers[type];
  int result = handler->handle(type);
  return result + chosen;
}
APART void stop(int type) { handlers[type].stop(type + 1); }
int main(int n, char **arguments) {
  MADE
  for (;;) if (serve(chosen) == 3) stop(chosen);
}
"""
BY_CODE = {
    "STORED": "static struct handler handlers[8];",
    "MADE": "handlers[1].handle = on_get; handlers[3].handle = on_put; handlers[1].stop = on_end;",
}
BY_FUNCTION = {
    "STORED": "static struct handler handlers[8];\n"
    "static APART void add(int type, int (*handle)(int)) {\n"
    "  handlers[type].handle = handle; handlers[type].name = 0;\n"
    "}",
    "MADE": "add(1, on_get); add(3, on_put); handlers[1].stop = on_end;",
}
BY_DATA = {
    "STORED": "static int on_get(int), on_put(int), on_end(int);\n"
    'static const struct handler handlers[] = {{on_get, "get", 0}, {on_put, "put", on_end}};',
    "MADE": "",
}


def called(compiled: Compile, compiler: str, parts: dict[str, str]) -> set[tuple[str, str]]:
    code = REGISTERED
    for name, part in parts.items():
        code = code.replace(name, part)
    image = next(iter(read_images(str(compiled(compiler, "c", code, "-O2")))))
    names = {int(row["address"]): image.names[row["name"]] for row in image.functions if row["name"] >= 0}
    return {
        (image.names[image.functions["name"][call["function"]]], names[int(call["callee"])])
        for call in KeptFunctions(image).resolved
    }


@pytest.mark.parametrize("parts", [BY_CODE, BY_FUNCTION, BY_DATA], ids=["code", "function", "data"])
@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_a_number_chooses_among_the_functions_that_are_kept_at_one_member(
    compiled: Compile, compiler: str, parts: dict[str, str]
) -> None:
    found = called(compiled, compiler, parts)
    assert {callee for caller, callee in found if caller == "serve"} == {"on_get", "on_put"}
    assert "nobody" not in {callee for _, callee in found}
