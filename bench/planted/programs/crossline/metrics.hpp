#pragma once

#include "types.hpp"

#include <mutex>
#include <vector>

namespace crossline {

inline constexpr std::size_t kMaxThreads = 8;

struct AcceptedTag {};
struct RejectedTag {};
struct FilledTag {};

// One number for each thread and kind of event.
template <typename Tag>
struct Tally {
    static void bump(std::size_t thread, std::uint32_t by = 1) noexcept { counts[thread] += by; }
    static std::uint64_t total() noexcept
    {
        std::uint64_t s = 0;
        for (auto c : counts)
            s += c;
        return s;
    }
    static inline std::array<std::uint32_t, kMaxThreads> counts{};
};

struct alignas(64) Busy {
    std::uint64_t loops{0};
    std::uint64_t useful{0};
};

class LatencyLog {
public:
    void note(std::uint32_t who, std::uint32_t ns)
    {
        std::lock_guard hold{guard_};
        worst_ = std::max(worst_, ns);
        lastWho_ = who;
        ++notes_;
    }
    std::uint32_t worst() const noexcept { return worst_; }
    std::uint32_t notes() const noexcept { return notes_; }

private:
    std::mutex guard_;
    std::uint32_t worst_{0};
    std::uint32_t lastWho_{0};
    std::uint32_t notes_{0};
};

extern std::array<Busy, kMaxThreads> busy;
extern LatencyLog latencyLog;
extern Relaxed<std::uint32_t> openOrders;
extern Relaxed<std::uint32_t> marketPhase;
extern std::atomic<bool> halted;
extern std::atomic<std::uint64_t> sessionClock;

std::uint32_t threadIndex() noexcept;
void bindThread(std::uint32_t index) noexcept;
void printMetrics();

}  // namespace crossline
