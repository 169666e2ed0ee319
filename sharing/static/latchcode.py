"""Functions without a name that wait until a word is zero, as a latch is waited for.

Owns how these are known by their code.  Of ``std::latch::wait`` compilers leave a template of the library
(``std::__atomic_wait_address``, bits/atomic_wait.h of libstdc++) that is handed the word twice: where to sleep, and
what its question is about.  It asks for the word behind the second one, and has the kernel wait for the first one, in
a loop.  Waits for a value to change are handed that value in the place of the second one; a semaphore takes what it
asks for, which is written then; and the phase of a barrier is a byte, for which the kernel cannot wait.
"""

from __future__ import annotations

from sharing.basics.columns import those_having
from sharing.model.arch import machine_named
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import AccessKind, ArgKind, Image
from sharing.model.vocabulary import BarrierRow
from sharing.static.executions import in_loop

WAIT = BarrierRow(function="std::__atomic_wait_address", arrives=False, word=True)

_SYSCALL = "syscall"
_OPERATIONS = (0, 128)  # FUTEX_WAIT, and with FUTEX_PRIVATE_FLAG (linux/futex.h)
_WORD_BYTES = 4  # the kernel waits for words of this size alone
_NUMBER, _WORD, _OPERATION = range(3)  # arguments of the system call
_HANDED, _ASKED = range(2)  # arguments of the function


def latch_waits(image: Image) -> frozenset[int]:
    """Addresses of such functions, of which each call that hands over a known word does so twice."""
    kernel = [address for address, name in image.callee_names.items() if name == _SYSCALL]
    machine = machine_named(image.arch.name)
    if not kernel or machine is None or machine.calls is None:
        return frozenset()
    args = those_having(image.args, "callee", kernel)
    constant = args["kind"] == ArgKind.CONSTANT
    number = constant & (args["arg"] == _NUMBER) & (args["value"] == machine.calls.futex)
    operation = constant & (args["arg"] == _OPERATION) & among(args["value"], _OPERATIONS)
    word = (args["kind"] == ArgKind.PARAM) & (args["arg"] == _WORD) & (args["source"] == _HANDED)
    word &= (args["value"] == 0) & in_loop(args["loop_depth"])
    waits = word & among(args["ip"], args["ip"][number]) & among(args["ip"], args["ip"][operation])
    functions = [one for one in distinct(args["function"][waits]).tolist() if one >= 0 and _asks(image, one)]
    found = image.functions["address"][functions].tolist()
    return frozenset(address for address in found if _is_handed_twice(image, address))


def _asks(image: Image, function: int) -> bool:
    """Whether it asks for a word behind its second argument in a loop, and changes nothing that it is handed."""
    params = those_having(image.params, "function", [function])
    asks = (params["arg"] == _ASKED) & (params["offset"] == 0) & (params["size"] == _WORD_BYTES)
    asks &= (params["kind"] == AccessKind.LOAD) & in_loop(params["loop_depth"])
    changes = among(params["kind"], (AccessKind.STORE, AccessKind.RMW))
    return bool(asks.any()) and not changes.any()


def _is_handed_twice(image: Image, address: int) -> bool:
    args = those_having(image.args, "callee", [address])
    args = picked(args, (args["kind"] == ArgKind.ADDRESS) & (args["source"] == 0))
    handed, asked = (picked(args, args["arg"] == one)[["ip", "value"]].tolist() for one in (_HANDED, _ASKED))
    return bool(handed) and handed == asked
