// Workers that go through phases together.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "barrier.hpp"
#include "deque.hpp"

namespace par {

struct Task {
    virtual ~Task() = default;
    virtual double run(unsigned worker, Range range) = 0;
    virtual const char* label() const = 0;
};

struct WorkerState {
    double residual = 0.0;
    std::uint64_t ranges = 0;
    std::uint64_t stolen = 0;
    std::uint64_t emptyLooks = 0;
    std::uint32_t seed = 1;
    RangeDeque* deque = nullptr;
};

struct Counters {
    static std::atomic<std::uint64_t> ranges;   // all workers
    static unsigned grain;                      // set once, read with each range
    static bool traceRanges;
    static std::uint64_t exceptions;
};

class Pool {
public:
    Pool(unsigned workers, std::uint32_t rows);
    ~Pool();

    // Runs the task over all rows on all workers; the caller only waits.
    void run(std::vector<Task*> phases, unsigned sweeps);

    double residual() const { return lastResidual_; }
    std::uint64_t ranges() const;
    std::uint64_t stolen() const;
    std::uint64_t polls() const { return polls_; }

private:
    void worker(unsigned id);
    void phase(unsigned id, Task& task);
    void refill();
    void monitor();

    const std::uint32_t rows_;
    unsigned sweeps_ = 0;
    bool stealing_ = true;               // read by workers
    std::atomic<bool> done_{false};
    std::atomic<std::uint64_t> polls_{0};  // monitor
    SpinBarrier barrier_;
    double lastResidual_ = 0.0;
    std::vector<WorkerState> states_;
    std::vector<std::unique_ptr<RangeDeque>> deques_;
    std::vector<Task*> phases_;
    std::vector<std::thread> threads_;
};

}  // namespace par
