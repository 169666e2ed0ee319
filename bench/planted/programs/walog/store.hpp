#pragma once
#include "wal.hpp"
#include <array>
#include <thread>

namespace walog {

constexpr unsigned kPages = 128;
constexpr unsigned kShards = 8;

struct Shard {
    std::mutex lock;
    uint64_t version = 0;
    uint32_t *cells = nullptr;
    void bump(uint32_t page, uint32_t value);
};

struct ClientStats {
    uint64_t commits = 0;
    uint64_t bytes = 0;
    uint64_t waits = 0;
};

// a histogram on lines of its own
struct alignas(64) Latency {
    std::array<uint32_t, 16> bins{};
};

class Store {
public:
    Store(Log &log, unsigned clients);
    ~Store();
    void client(unsigned id, long rounds);
    void flusher();
    void checkpointer();
    void start(long rounds);
    void finish();
    void report() const;
    void probe() const;

private:
    Log &log_;
    std::vector<ClientStats> stats_;
    std::vector<Shard> shards_;
    std::vector<unsigned char> dirty_;
    std::vector<Latency> latency_;
    std::vector<std::thread> clients_;
    std::thread flusher_;
    std::thread checkpointer_;
    std::atomic<bool> done_{false};
    uint64_t checkpoints_ = 0;
    uint64_t cleaned_ = 0;
    uint64_t started_ns_ = 0;
};

} // namespace walog
