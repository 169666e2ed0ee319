#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "epoch.hpp"
#include "tree.hpp"

namespace lt {

struct options {
    int operations = 60000;
    std::uint32_t keys = 96;
    int writers = 2;
    int readers = 2;
};

struct alignas(64) latency_sum {
    std::uint64_t operations = 0;
    std::uint64_t steps = 0;
};

// State of one scan.
struct cursor {
    std::uint32_t position = 0;
    std::uint32_t rounds = 0;
    std::uint64_t digest = 0;
};

struct control {
    std::atomic<bool> stop{false};
    std::atomic<std::uint32_t> checkpoints{0};
    std::uint32_t dirty_seen = 0;
    std::uint32_t budget = 4;
};

class workload {
public:
    workload(btree& tree, page_store& store, epoch_domain& epochs, const options& o);
    void run();
    void print() const;

private:
    void write_loop(int tid);
    void read_loop(int tid);
    void scan_loop(int tid);
    void checkpoint_loop();
    void reclaim_loop();
    void arrive();
    std::uint32_t next_key(int tid);

    btree& tree_;
    page_store& store_;
    epoch_domain& epochs_;
    options options_;
    std::vector<std::minstd_rand> random_;
    std::vector<cursor> cursors_;
    std::vector<latency_sum> sums_;
    std::vector<std::uint8_t> phase_;
    alignas(64) std::atomic<int> waiting_{0};
    alignas(64) control control_;
};

} // namespace lt
