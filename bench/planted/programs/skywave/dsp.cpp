#include "dsp.hpp"

namespace skywave {
namespace {

// A quarter of a sine, in 1/1024.
constexpr std::array<std::int32_t, 17> kQuarter{0,   100, 200, 297, 392, 483, 569, 650, 724,
                                                792, 851, 903, 946, 980, 1004, 1019, 1024};

std::int32_t wave(std::uint32_t phase) noexcept {
    const std::uint32_t quarter = (phase >> 30) & 3;
    std::uint32_t index = (phase >> 26) & 15;
    if (quarter & 1)
        index = 16 - index;
    const std::int32_t v = kQuarter[index];
    return quarter & 2 ? -v : v;
}

}  // namespace

void designBank(TapBank& bank) {
    for (std::size_t k = 0; k < kTaps; ++k) {
        const auto away = static_cast<std::int32_t>(k < kTaps / 2 ? kTaps / 2 - k : k - kTaps / 2);
        bank.taps[k] = 256 - 40 * away;
    }
    ++bank.redesigns;
}

Sample oscillate(Oscillator& osc) noexcept {
    osc.phase += osc.step;
    osc.noise = scramble(osc.noise);
    ++osc.produced;
    return wave(osc.phase) + static_cast<Sample>(osc.noise & 63) - 32;
}

Sample filterOne(const TapBank& bank, DelayLine& line, Sample in) noexcept {
    line.history[line.cursor % kTaps] = in;
    Sample sum = 0;
    for (std::size_t k = 0; k < kTaps; ++k)
        sum += bank.taps[k] * line.history[(line.cursor - k) % kTaps];
    ++line.cursor;
    sum >>= bank.shift;
    if (sum > 4000)
        ++line.overloads;
    return sum;
}

std::uint32_t DecisionHistogram::weight() const noexcept {
    std::uint32_t sum = 0;
    for (std::size_t k = 0; k < cellCounts_.size(); ++k)
        sum += cellCounts_[k] * static_cast<std::uint32_t>(k + 1);
    return sum;
}

}  // namespace skywave
