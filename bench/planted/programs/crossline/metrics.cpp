#include "metrics.hpp"

#include <cstdio>

namespace crossline {

std::array<Busy, kMaxThreads> busy;
LatencyLog latencyLog;
Relaxed<std::uint32_t> openOrders;
Relaxed<std::uint32_t> marketPhase{1};
std::atomic<bool> halted{false};
std::atomic<std::uint64_t> sessionClock{0};

namespace {
thread_local std::uint32_t tlsIndex = 0;
std::uint32_t boundThreads = 0;
std::mutex bindMutex;
}  // namespace

std::uint32_t threadIndex() noexcept { return tlsIndex; }

void bindThread(std::uint32_t index) noexcept
{
    tlsIndex = index;
    std::lock_guard hold{bindMutex};
    ++boundThreads;
}

void printMetrics()
{
    std::printf("accepted %llu rejected %llu filled %llu\n", static_cast<unsigned long long>(Tally<AcceptedTag>::total()),
                static_cast<unsigned long long>(Tally<RejectedTag>::total()), static_cast<unsigned long long>(Tally<FilledTag>::total()));
    std::printf("open %u, phase %u, clock %llu, %u threads\n", openOrders.get(), marketPhase.get(),
                static_cast<unsigned long long>(sessionClock.load()), boundThreads);
    for (std::size_t i = 0; i < kMaxThreads; ++i)
        if (busy[i].loops)
            std::printf("thread %zu: %llu loops, %llu useful\n", i, static_cast<unsigned long long>(busy[i].loops),
                        static_cast<unsigned long long>(busy[i].useful));
    std::printf("worst latency %u of %u\n", latencyLog.worst(), latencyLog.notes());
}

}  // namespace crossline
