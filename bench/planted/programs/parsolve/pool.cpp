#include "pool.hpp"

#include <cstdio>

namespace par {

std::atomic<std::uint64_t> Counters::ranges{0};
unsigned Counters::grain = 8;
bool Counters::traceRanges = false;
std::uint64_t Counters::exceptions = 0;

Pool::Pool(unsigned workers, std::uint32_t rows) : rows_(rows), barrier_(workers), states_(workers) {
    for (unsigned i = 0; i < workers; ++i) {
        deques_.push_back(std::make_unique<RangeDeque>(rows));
        states_[i].deque = deques_[i].get();
        states_[i].seed = i + 1;
    }
    refill();
}

Pool::~Pool() = default;

void Pool::refill() {
    const auto n = static_cast<std::uint32_t>(deques_.size());
    for (std::uint32_t i = 0; i < n; ++i)
        deques_[i]->fill(rows_ * i / n, rows_ * (i + 1) / n, Counters::grain);
}

void Pool::phase(unsigned id, Task& task) {
    WorkerState& me = states_[id];
    const auto n = static_cast<unsigned>(states_.size());
    while (std::optional<Range> range = me.deque->take()) {
        me.residual += task.run(id, *range);
        ++me.ranges;
        Counters::ranges.fetch_add(1, std::memory_order_relaxed);
        if (Counters::traceRanges) std::printf("%u: %u..%u\n", id, range->first, range->last);
    }
    if (!stealing_) return;
    for (unsigned i = 1; i < n; ++i) {
        RangeDeque& victim = *deques_[(id + i) % n];
        while (std::optional<Range> range = victim.steal()) {
            me.residual += task.run(id, *range);
            ++me.stolen;
            Counters::ranges.fetch_add(1, std::memory_order_relaxed);
            if (Counters::traceRanges) std::printf("%u: %u..%u stolen\n", id, range->first, range->last);
        }
        ++me.emptyLooks;
    }
}

void Pool::worker(unsigned id) {
    for (unsigned sweep = 0; sweep < sweeps_; ++sweep) {
        for (Task* task : phases_) {
            phase(id, *task);
            // The last one prepares the next phase while the others wait.
            if (barrier_.arrive()) refill();
            if (barrier_.arrive()) {
                lastResidual_ = 0.0;
                for (WorkerState& state : states_) {
                    lastResidual_ += state.residual;
                    state.residual = 0.0;
                }
            }
            barrier_.arrive();
        }
    }
}

void Pool::monitor() {
    while (!done_.load(std::memory_order_acquire)) {
        polls_.fetch_add(1, std::memory_order_relaxed);
        std::this_thread::yield();
    }
}

void Pool::run(std::vector<Task*> phases, unsigned sweeps) {
    phases_ = std::move(phases);
    sweeps_ = sweeps;
    done_ = false;
    std::thread watcher(&Pool::monitor, this);
    for (unsigned i = 0; i < states_.size(); ++i) threads_.emplace_back(&Pool::worker, this, i);
    for (std::thread& thread : threads_) thread.join();
    done_.store(true, std::memory_order_release);
    watcher.join();
    threads_.clear();
}

std::uint64_t Pool::ranges() const {
    std::uint64_t sum = 0;
    for (const WorkerState& state : states_) sum += state.ranges + state.stolen;
    return sum;
}

std::uint64_t Pool::stolen() const {
    std::uint64_t sum = 0;
    for (const WorkerState& state : states_) sum += state.stolen;
    return sum;
}

}  // namespace par
