#pragma once

#include <atomic>
#include <cstdint>

namespace lt {

constexpr int max_threads = 8;

// Threads announce the epoch in which they work; the reclaimer advances it.
class epoch_domain {
public:
    void enter(int tid);
    void leave(int tid);
    bool try_advance();
    void retire();
    std::uint64_t epochs() const { return global_.load(); }
    std::uint32_t retired() const { return retired_.load(); }

private:
    std::atomic<std::uint32_t> local_[max_threads] = {};
    alignas(64) std::atomic<std::uint32_t> global_{1};
    std::uint32_t attempts_ = 0;
    std::uint32_t stuck_ = 0;
    std::atomic<std::uint32_t> retired_{0};
};

class epoch_guard {
public:
    epoch_guard(epoch_domain& d, int tid) : domain_(d), tid_(tid) { domain_.enter(tid_); }
    ~epoch_guard() { domain_.leave(tid_); }

private:
    epoch_domain& domain_;
    int tid_;
};

} // namespace lt
