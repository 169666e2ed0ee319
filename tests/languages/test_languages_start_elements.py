"""Elements of an array that a loop gives the threads that it starts, one each: by argument or in a closure."""

from __future__ import annotations

from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Severity
from tests.cpp import build

WORKER = """
struct ALIGNED Worker {
    unsigned long jobs, seed;
    unsigned number;
    long more[2];
    void work(long rounds) {
        for (long i = 0; i < rounds; i++) {
            seed = seed * 25214903917 + 11;
            WRITES;
            asm volatile("" ::: "memory");
        }
    }
};
"""
IN_CPP = """
#include <cstdio>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <vector>
static unsigned long sum;
WORKER
static void run(Worker &worker, long rounds) { worker.work(rounds); }
int main(int argc, char **) {
    unsigned count = argc * 4;
    MAKES
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < count; i++) { workers[i].number = i; STARTS; }
    for (auto &one : threads) one.join();
    std::printf("%lu %lu\\n", workers[0].jobs, sum);
}
"""
IN_C = """
#include <pthread.h>
#include <stdlib.h>
struct worker { unsigned long jobs, seed; int number; pthread_t thread; };
static void *run(void *given) {
    struct worker *worker = given;
    for (long i = 0; i < 100000000; i++) {
        worker->jobs++;
        worker->seed += i;
        __asm__ volatile("" ::: "memory");
    }
    return 0;
}
int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 4;
    struct worker *workers = malloc(count * sizeof *workers);
    for (int i = 0; i < count; i++) {
        MAKES
        workers[i].number = i;
        pthread_create(&workers[i].thread, 0, run, GIVEN);
    }
    for (int i = 0; i < count; i++) pthread_join(workers[i].thread, 0);
    return workers[0].jobs & 1;
}
"""
VECTOR = "std::vector<Worker> workers(count);"
ARRAY = "std::unique_ptr<Worker[]> workers(new Worker[count]());"
BY_REFERENCE = "threads.emplace_back(run, std::ref(workers[i]), 100000000L)"
BY_LAMBDA = "Worker &mine = workers[i]; threads.emplace_back([&mine] { mine.work(100000000L); })"
BY_METHOD = "threads.emplace_back(&Worker::work, &workers[i], 100000000L)"


def rules(folder: Path, text: str, compiler: str) -> set[str]:
    """The rules that find something in the program, low or above."""
    source = folder / ("program.cpp" if "++" in compiler else "program.c")
    source.write_text(text)
    built = source.with_suffix("")
    standard = ["-std=c++17"] if "++" in compiler else []
    build(compiler, source, built, *standard, "-O2", "-pthread")
    findings = audit(AuditOptions(binary=str(built))).findings
    return {finding.rule for finding in findings if finding.severity.rank >= Severity.LOW.rank}


def cpp(makes: str, starts: str, *, writes: str = "jobs++", aligned: str = "") -> str:
    worker = WORKER.replace("ALIGNED", aligned).replace("WRITES", writes)
    return IN_CPP.replace("WORKER", worker).replace("MAKES", makes).replace("STARTS", starts)


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
@pytest.mark.parametrize(
    ("makes", "starts"),
    [(VECTOR, BY_REFERENCE), (ARRAY, BY_LAMBDA), (VECTOR, BY_METHOD), (ARRAY, BY_METHOD)],
    ids=["reference", "lambda", "method", "array"],
)
def test_elements_that_threads_write(tmp_path: Path, makes: str, starts: str, compiler: str) -> None:
    assert "packed-thread-slots" in rules(tmp_path, cpp(makes, starts), compiler)


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
@pytest.mark.parametrize("starts", [BY_REFERENCE, BY_LAMBDA, BY_METHOD], ids=["reference", "lambda", "method"])
def test_elements_that_are_lines(tmp_path: Path, starts: str, compiler: str) -> None:
    assert not rules(tmp_path, cpp(VECTOR, starts, aligned="alignas(64)"), compiler)


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_objects_that_are_made_for_each_thread(tmp_path: Path, compiler: str) -> None:
    own = "auto *mine = new Worker(workers[i]); threads.emplace_back([mine] { mine->work(100000000L); })"
    assert not rules(tmp_path, cpp(VECTOR, own), compiler)


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_elements_of_an_array_that_is_made_in_two_places(tmp_path: Path, compiler: str) -> None:
    """gcc makes two calls of the allocator of the one: either way the threads are given neighbours."""
    text = IN_C.replace("MAKES", "").replace("GIVEN", "&workers[i]")
    assert "packed-thread-slots" in rules(tmp_path, text, compiler)


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_records_that_a_loop_makes(tmp_path: Path, compiler: str) -> None:
    makes = "struct worker *mine = calloc(1, 4096);"
    assert not rules(tmp_path, IN_C.replace("MAKES", makes).replace("GIVEN", "mine"), compiler)
