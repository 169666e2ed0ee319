#include "meters.hpp"

namespace skywave {

std::array<PaddedLevel, kStages + 1> LevelBoard::board{};
std::array<std::atomic<Mood>, kStages + 1> MoodRing::moods{};

std::atomic<std::uint32_t> carrierLocks{0};
std::atomic<std::uint32_t> trimPasses{0};
std::atomic<std::uint32_t> framesOut{0};
std::uint32_t badLanes = 0;

namespace {
// Lanes entered so far: once for each thread, at its start.
std::atomic<std::uint32_t> lanesEntered{0};
constexpr std::size_t kMostPages = 128;
}  // namespace

Journal& Journal::instance() {
    static Journal theJournal;
    return theJournal;
}

void Journal::write(std::string_view what, std::uint32_t number) {
    std::scoped_lock hold(pen_);
    if (pages_.size() >= kMostPages) {
        ++dropped_;
        return;
    }
    pages_.emplace_back(what, number);
}

std::size_t Journal::entries() {
    std::scoped_lock hold(pen_);
    return pages_.size() + dropped_;
}

void enterLane(Role role) {
    tlsLane = static_cast<std::size_t>(role);
    if (tlsLane >= kStages)
        ++badLanes;
    lanesEntered.fetch_add(1, std::memory_order_relaxed);
    MoodRing::set(Mood::Working);
}

}  // namespace skywave
