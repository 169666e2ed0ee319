"""The generic __atomic_exchange takes the object second; the sized forms take it first and nothing else."""

from sharing.knowledge import default_knowledge
from sharing.static import flow
from tests.builders.image import Builder


def test_sized_exchange_has_its_object_first_and_no_other() -> None:
    """The prefix of the generic name must not claim the second argument of the sized one."""
    b = Builder()
    value = b.variable("value", 8)
    b.variable("expected", 8)
    b.function("f").call("__atomic_compare_exchange_8", "value", "expected")
    sites = flow.by_name(b.image(), default_knowledge())
    assert sites["target"].tolist() == [value]
