#pragma once
#include <thread>

#include "flow.hpp"

namespace ft {

struct WorkerStats {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::uint64_t limited = 0;
};

// rarely written: protocol trouble only
struct alignas(64) ErrorStats {
    std::atomic<std::uint64_t> malformed{0};
    std::atomic<std::uint64_t> no_memory{0};
    std::uint64_t snapshots = 0;
};

struct alignas(64) PortStats {
    std::atomic<std::uint64_t> packets{0};
    std::atomic<std::uint64_t> bytes{0};
};

class Engine {
public:
    struct Options {
        unsigned workers = 2;
        std::size_t flows = 512;
        long packets = 50000;
        std::string name = "ft0";
    };
    explicit Engine(Options o);
    void run();
    void report() const;

private:
    void receive(unsigned port);
    void work(unsigned id);
    void age();
    void snapshot();
    std::uint32_t inspect(const Packet& p, std::vector<unsigned char>& scratch) const;

    Options opt_;
    FlowTable table_;
    std::unique_ptr<Limiter> limiter_;
    std::vector<std::unique_ptr<Channel>> channels_;
    std::vector<WorkerStats> stats_;
    std::vector<PortStats> ports_;
    std::unique_ptr<ErrorStats> errors_;
    alignas(64) std::size_t mtu_ = 1500;
    std::atomic<std::uint64_t> received_{0};
    std::atomic<unsigned> receiving_{0};
    alignas(64) std::atomic<bool> stop_{false};
    std::vector<std::uint32_t> results_;
};

}  // namespace ft
