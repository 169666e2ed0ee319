"""Signal handlers that are handed to a function of the program's own, which installs them."""

from __future__ import annotations

import numpy as np
import pytest

from elfscan.image import read_images
from sharing.basics.numbers import SELDOM
from sharing.static.rarecode import with_rarity
from tests.sharing.conftest import Compile

SOURCE = """
#include <signal.h>
#include <string.h>
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif
long caught, noted, passed, run, seen, both;
static void (*kept)(int);
static void count(int n) { caught += n; }
static void note(int n) { noted += n; }
static void pass(int n) { passed += n; }
static void again(int n) { both += n; }
static void work(int n) { run += n; }
static void look(int n) { seen += n; }
APART int install(int number, void (*handler)(int)) {
  struct sigaction how, before;
  how.sa_handler = handler;
  sigemptyset(&how.sa_mask);
  how.sa_flags = number == SIGALRM ? SA_RESTART : 0;
  return sigaction(number, &how, &before);
}
/* These install something else, and use what they are handed in another way. */
APART void keep(int number, void (*called)(int)) { kept = called; install(number, count); }
APART int keep_itself(int number, void (*called)(int)) {
  struct sigaction how;
  memset(&how, 0, sizeof how);
  how.sa_handler = SIG_IGN;
  kept = called;
  return sigaction(number, &how, 0);
}
APART int call(int number, void (*called)(int)) {
  struct sigaction how;
  memset(&how, 0, sizeof how);
  how.sa_handler = SIG_IGN;
  called(number);
  return sigaction(number, &how, 0);
}
int main(int n, char **v) {
  install(SIGTERM, count);
  install(SIGHUP, again);
  keep(SIGINT, note);
  keep_itself(SIGPIPE, pass);
  call(SIGUSR1, work);
  for (int i = 0; i < n; i++) { again(i); kept(i); look(i); }
  return 0;
}
"""


@pytest.mark.parametrize(("tool", "level"), [("gcc", "-O0"), ("gcc", "-O2"), ("clang-19", "-O0"), ("clang-19", "-O2")])
def test_what_a_wrapper_can_only_install_is_a_handler(compiled: Compile, tool: str, level: str) -> None:
    image = with_rarity(next(read_images(str(compiled(tool, "c", SOURCE, level)), types=False)))
    address = {image.names[v["name"]]: int(v["address"]) for v in image.variables if v["name"] >= 0}
    rarity = {name: image.sites["rarity"][image.sites["target"] == at].min(initial=255) for name, at in address.items()}
    assert rarity["caught"] >= SELDOM
    others = np.array([rarity[name] for name in ("noted", "passed", "run", "seen", "both")])
    assert (others < SELDOM).all()
