#pragma once
#include "common.hpp"

namespace skywave {

// One bank of coefficients for both filters.  Either filter notes what it
// did; the taps themselves never change once the bank is designed.
struct TapBank {
    std::array<std::int32_t, kTaps> taps{};
    std::uint32_t shift{10};
    std::uint32_t runsA{0};      // by the first filter
    std::uint32_t clippedB{0};   // by the second filter
    std::uint32_t redesigns{0};  // never while running
};

// The state of one channel's filter.
struct DelayLine {
    std::array<Sample, kTaps> history{};
    std::uint32_t cursor{0};
    std::uint32_t overloads{0};
};

// What the supervisor trims, and what comes back from the slicer.
struct Trim {
    std::uint16_t channelNo{};
    std::uint16_t bandwidth{};
    std::atomic<std::int32_t> bias{0};        // supervisor
    std::atomic<std::uint32_t> adjustments{0};  // supervisor
    std::atomic<std::uint32_t> excess{0};     // slicer
    std::atomic<std::uint32_t> quiet{0};      // slicer
};

// A tuned oscillator; one for each channel, both run by the tuner.
struct Oscillator {
    std::uint32_t phase{};
    std::uint32_t step{};
    std::uint32_t noise{};
    std::uint32_t produced{};
};

void designBank(TapBank& bank);
Sample oscillate(Oscillator& osc) noexcept;
Sample filterOne(const TapBank& bank, DelayLine& line, Sample in) noexcept;

// Statistics of the slicer's decisions, kept by value of the top bits.
class DecisionHistogram {
public:
    void add(Sample s) noexcept { ++cellCounts_[static_cast<std::uint32_t>(s) >> 29]; }
    std::uint32_t weight() const noexcept;

private:
    std::array<std::uint32_t, 8> cellCounts_{};
};

}  // namespace skywave
