"""A first look at many names before each is read: which of them may be known to rows at all."""

from __future__ import annotations

import pytest

from sharing.knowledge import default_knowledge
from sharing.knowledge.mentions import mentioning
from sharing.knowledge.names import FunctionNames, LinkageNames, Namespaces, word_of


def test_a_word_is_found_anywhere_in_a_text_and_not_across_two() -> None:
    texts = ["start_up", "restart", "st", "art", "", "start start"]
    assert mentioning(texts, ["start"]) == [0, 1, 5]


def test_texts_with_line_ends_keep_their_rows() -> None:
    assert mentioning(["a\nb", "stop", "\n", "stop\n"], ["stop"]) == [1, 3]


def test_without_texts_or_words_nothing_is_mentioned() -> None:
    assert mentioning([], ["start"]) == []
    assert mentioning(["start"], []) == []


@pytest.mark.parametrize("row", ["run", "a::B::run", "a::*::run", "a::B::ru*", "a::B::B", "a::B::~B", "a::*"])
def test_what_a_row_speaks_of_is_among_the_names_of_a_program(row: str) -> None:
    known: FunctionNames[int] = FunctionNames(LinkageNames(Namespaces(())))
    known.add(row, 1)
    names = ["run", "_ZN1a1B3runEv", "_ZN1a1BC2Ev", "_ZN1a1BD2Ev", "_ZN1aclEv", "_ZN1a1B3runE", "rerun", "main"]
    assert known.among(names) == [at for at, name in enumerate(names) if known.find(name)] != []


def test_the_entries_of_threads_among_many_names_are_those_by_their_names() -> None:
    names = ["main", "_ZNSt6thread11_State_implI1AE6_M_runEv", "_M_run", "_ZN3foo6_M_runEv"]
    knowledge = default_knowledge()
    assert knowledge.thread_entries(names) == [1]
    assert [knowledge.is_thread_entry(name) for name in names] == [False, True, False, False]


def test_what_calls_do_is_asked_of_the_same_names_at_once_as_one_by_one() -> None:
    knowledge = default_knowledge()
    names = [
        "",
        "main",
        "pthread_create",
        "pthread_mutex_lock",
        "pthread_barrier_wait",
        "signal",
        "_ZNSt6threadC2Ev",
        "_ZNSt5mutex4lockEv",
        "_ZNSt10lock_guardISt5mutexEC2ERS0_",
        "_ZN2my10lock_guardISt5mutexEC2ERS1_",
        "_ZN4absl12lts_202206235Mutex4LockEv",
        "_ZN2my5block4openEv",
        "std::sync::poison::mutex::Mutex::lock",
    ]
    asked = (
        (knowledge.lock_callees, lambda name: bool(knowledge.lock_calls(name))),
        (knowledge.thread_starters, knowledge.starts_thread),
        (knowledge.barriers, lambda name: knowledge.barrier(name) is not None),
        (knowledge.callers_back, lambda name: bool(knowledge.callbacks(name))),
    )
    for together, alone in asked:
        assert together(names) == [row for row, name in enumerate(names) if alone(name)]
    assert [names[row] for row in knowledge.lock_callees(names)] == [names[row] for row in (3, 4, 7, 8, 10, 12)]


def test_what_linkage_names_abbreviate_or_encode_is_no_word_of_a_row() -> None:
    assert word_of("std::basic_string::~basic_string") == ""
    assert word_of("std::thread::thread") == "thread"
    assert word_of("my::Call::operator()") == "Call"
    assert word_of("tbb::task::*") == "task"
