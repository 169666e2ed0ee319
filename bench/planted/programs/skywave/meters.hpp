#pragma once
#include "common.hpp"

namespace skywave {

// A counter for each stage, kept as a class static and found by the
// thread's lane.  One class for each thing that is counted.
struct BurstsSeen {};
struct SamplesSeen {};

template <typename What>
class StageMeter {
public:
    static void tick(std::uint32_t by = 1) noexcept { lanes[tlsLane] += by; }
    static std::uint64_t total() noexcept {
        std::uint64_t sum = 0;
        for (auto v : lanes)
            sum += v;
        return sum;
    }

private:
    inline static std::array<std::uint32_t, kStages + 1> lanes{};
};

// The same, but each stage has its own cache line.
struct alignas(64) PaddedLevel {
    std::uint32_t peak{};
    std::uint32_t floor{0xffffffff};
    std::uint64_t energy{};
};

class LevelBoard {
public:
    static PaddedLevel& mine() noexcept { return board[tlsLane]; }
    static std::uint64_t energyOf(std::size_t lane) noexcept { return board[lane].energy; }

private:
    static std::array<PaddedLevel, kStages + 1> board;
};

// One byte of mood for each stage, shown by the supervisor.
enum class Mood : std::uint8_t { Asleep, Working, Draining, Gone };

class MoodRing {
public:
    static void set(Mood m) noexcept { moods[tlsLane].store(m, std::memory_order_relaxed); }
    static unsigned working() noexcept {
        unsigned n = 0;
        for (auto& m : moods)
            n += m.load(std::memory_order_relaxed) == Mood::Working;
        return n;
    }

private:
    static std::array<std::atomic<Mood>, kStages + 1> moods;
};

// Events worth a line of text; rare.
class Journal {
public:
    static Journal& instance();
    void write(std::string_view what, std::uint32_t number);
    std::size_t entries();

private:
    std::mutex pen_;
    std::vector<std::pair<std::string, std::uint32_t>> pages_;
    std::size_t dropped_{0};
};

extern std::atomic<std::uint32_t> carrierLocks;   // slicer
extern std::atomic<std::uint32_t> trimPasses;     // supervisor
extern std::atomic<std::uint32_t> framesOut;      // framer
extern std::uint32_t badLanes;                    // never, we hope

void enterLane(Role role);

}  // namespace skywave
