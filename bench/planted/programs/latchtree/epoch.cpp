#include "epoch.hpp"

namespace lt {

void epoch_domain::enter(int tid)
{
    local_[tid].store(global_.load(std::memory_order_acquire));
}

void epoch_domain::leave(int tid)
{
    local_[tid].store(0, std::memory_order_release);
}

bool epoch_domain::try_advance()
{
    ++attempts_;
    const std::uint32_t now = global_.load(std::memory_order_relaxed);
    for (const auto& l : local_) {
        const std::uint32_t seen = l.load(std::memory_order_acquire);
        if (seen != 0 && seen != now) {
            ++stuck_;
            return false;
        }
    }
    global_.store(now + 1, std::memory_order_release);
    return true;
}

void epoch_domain::retire()
{
    retired_.fetch_add(1, std::memory_order_relaxed);
}

} // namespace lt
