#pragma once

#include "node.h"

namespace raft {

class Cluster {
public:
    explicit Cluster(Ref<Options> options);

    void run(std::uint32_t proposals);

    Ref<Options> options() const noexcept { return options_; }
    Node& node(std::size_t n) noexcept { return *nodes_[n]; }
    bool stopping() const noexcept { return stop_.flag.load(std::memory_order_relaxed); }
    void heard(std::size_t n) noexcept { heard_[n].store(true, std::memory_order_relaxed); }
    Backoff& backoff() noexcept { return *backoffs_[ThreadSlot::current()]; }
    WorkerStat& stat() noexcept { return stats_[ThreadSlot::current()]; }
    LaneCounters& lane() noexcept { return lanes_[ThreadSlot::current()]; }
    ClientSession& session(std::size_t n) noexcept { return sessions_[n]; }

    std::array<Channel<Command, 64>, kClients> proposals;

private:
    void client_loop(std::uint32_t id, std::uint32_t count);
    void ticker_loop();
    void snapshot_loop();
    void report(std::uint64_t at);
    template <class Fn>
    void spawn(std::size_t slot, Fn&& fn);

    Ref<Options> options_;
    std::array<std::unique_ptr<Node>, kNodes> nodes_;
    std::vector<std::unique_ptr<Backoff>> backoffs_;
    std::vector<WorkerStat> stats_;
    std::unique_ptr<LaneCounters[]> lanes_;
    std::unique_ptr<ClientSession[]> sessions_;
    std::unique_ptr<Snapshot> snapshot_;
    std::vector<std::thread> threads_;
    std::vector<std::string> names_;
    std::array<std::atomic<bool>, kNodes> heard_{};
    std::uint32_t max_lag_ = 4096;
    std::atomic<std::uint64_t> ticks_{0};
    std::latch ready_;
    struct alignas(64) {
        std::atomic<bool> flag{false};
    } stop_;
};

}  // namespace raft
