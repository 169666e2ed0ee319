#pragma once
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "object_pool.hpp"
#include "steal_queue.hpp"

namespace ts {

// what all tasks of a job look at
struct JobContext {
    std::uint32_t width = 96;
    std::uint32_t modulus = 65521;
    std::string name;
};

struct Task {
    Task(std::uint64_t s, std::uint32_t d, std::shared_ptr<JobContext> c) : seed(s), depth(d), ctx(std::move(c)) {}
    std::uint64_t seed;
    std::uint32_t depth;
    std::uint32_t steps = 0;
    std::shared_ptr<JobContext> ctx;
};

struct Reply {
    explicit Reply(std::uint64_t v) : value(v) {}
    std::uint64_t value;
    std::uint32_t polls = 0;
};

struct Worker {
    Worker(unsigned i, std::size_t cap) : id(i), queue(cap) {}
    unsigned id;
    std::uint32_t rng = 1;
    std::atomic<std::uint32_t> hint{0};    // thieves: how much there was when last seen
    std::uint64_t executed = 0;
    std::uint64_t stolen = 0;
    StealQueue<Task*> queue;
};

struct alignas(64) PaddedCount {
    std::atomic<std::uint64_t> n{0};
};

class Scheduler {
public:
    Scheduler(unsigned workers, long jobs);
    void run();
    void report() const;

private:
    void loop(Worker& w);
    bool find(Worker& w, Task*& t);
    void execute(Worker& w, Task* t);
    void watch();
    std::uint64_t crunch(const Task& t) const;

    std::size_t nworkers_;
    std::uint32_t max_depth_ = 2;
    std::atomic<std::int64_t> pending_{0};
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<double> partial_;
    std::vector<PaddedCount> finished_;
    ObjectPool<Task> tasks_;
    ObjectPool<Reply> replies_;
    std::shared_ptr<JobContext> ctx_;
    long jobs_;
    alignas(64) std::atomic<bool> stop_{false};
    alignas(64) std::uint64_t watch_runs_ = 0;
    std::uint64_t overflows_ = 0;
};

}  // namespace ts
