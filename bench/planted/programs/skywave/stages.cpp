#include "stages.hpp"

namespace skywave {

std::vector<LaneTally>& laneTallies() {
    static std::vector<LaneTally> tallies(kStages + 1);
    return tallies;
}

// Serial numbers of bursts; only the tuner asks.
std::uint32_t nextSerial() {
    static std::uint32_t burstSerial = 0;
    return ++burstSerial;
}

// Numbers of frames; only the framer asks.
std::uint32_t nextFrameNumber() {
    static std::uint32_t frameSerial = 100;
    return ++frameSerial;
}

namespace {
std::atomic<std::uint32_t> squelched{0};         // slicer
std::atomic<std::uint32_t> filterTurns{0};       // both filters
std::uint32_t missedMarks = 0;                   // framer, seldom
std::array<std::uint16_t, kChannels> lastLevel{};  // one for each filter
}  // namespace

std::uint32_t levelSum() {
    std::uint32_t sum = squelched.load(std::memory_order_relaxed) + missedMarks;
    for (auto v : lastLevel)
        sum += v;
    return sum;
}

// ---------------------------------------------------------------- tuner

Tuner::Tuner(RadioState& state) : Stage(Role::Tuner), state_(state) {
    for (std::size_t c = 0; c < kChannels; ++c) {
        oscillators_[c].step = 0x04000000u + 0x00700000u * static_cast<std::uint32_t>(c);
        oscillators_[c].noise = 7919u + static_cast<std::uint32_t>(c);
    }
}

bool Tuner::step() {
    const bool last = nextBurst_ + 1 == state_.plan.bursts;
    for (std::size_t c = 0; c < kChannels; ++c) {
        Burst b;
        b.serial = nextSerial();
        b.channel = static_cast<std::uint16_t>(c);
        for (auto& s : b.data)
            s = oscillate(oscillators_[c]);
        if (b.serial % 3 == 0)
            b.flags |= kMarkedBurst;
        if (last)
            b.flags |= kLastBurst;
        auto& tally = laneTallies()[tlsLane];
        ++tally.bursts;
        tally.marked += b.flags & kMarkedBurst;
        ++state_.tunedBursts;
        StageMeter<SamplesSeen>::tick(kBlock);
        state_.raw[c].push(b);
    }
    StageMeter<BurstsSeen>::tick(kChannels);
    ++nextBurst_;
    if (!state_.antenna.load(std::memory_order_relaxed))
        Journal::instance().write("antenna lost", nextBurst_);
    return !last;
}

// --------------------------------------------------------------- filter

ChannelFilter::ChannelFilter(RadioState& state, std::uint16_t channel)
    : Stage(channel == 0 ? Role::FilterA : Role::FilterB), state_(state), channel_(channel) {}

bool ChannelFilter::step() {
    Burst b = state_.raw[channel_].pop();
    auto& level = LevelBoard::mine();
    auto& trim = *state_.trims[channel_];
    const auto width = static_cast<Sample>(trim.bandwidth);
    std::uint32_t top = 0;
    for (auto& s : b.data) {
        s = filterOne(state_.bank, line_, s);
        if (s > width)
            s = width;
        const auto mag = static_cast<std::uint32_t>(s < 0 ? -s : s);
        top = mag > top ? mag : top;
        level.energy += mag;
    }
    level.peak = top > level.peak ? top : level.peak;
    level.floor = top < level.floor ? top : level.floor;
    lastLevel[channel_] = static_cast<std::uint16_t>(top);
    if (channel_ == 0)
        ++state_.bank.runsA;
    else
        ++state_.bank.clippedB;
    auto& tally = laneTallies()[tlsLane];
    ++tally.bursts;
    tally.marked += b.flags & kMarkedBurst;
    tally.sum += top;
    StageMeter<BurstsSeen>::tick();
    filterTurns.fetch_add(1, std::memory_order_relaxed);
    state_.clean[channel_].push(b);
    return !(b.flags & kLastBurst);
}

// --------------------------------------------------------------- slicer

Slicer::Slicer(RadioState& state) : Stage(Role::Slicer), state_(state) {}

void Slicer::slice(const Burst& b) {
    auto& trim = *state_.trims[b.channel];
    const std::int32_t bias = trim.bias.load(std::memory_order_relaxed);
    Symbols out;
    out.origin = b.serial;
    out.lane = b.channel;
    std::uint32_t flat = 0, over = 0;
    for (Sample s : b.data) {
        out.bits = out.bits << 1 | static_cast<std::uint32_t>(s > 0);
        flat += static_cast<std::uint32_t>(s > -20 && s < 20);
        over += static_cast<std::uint32_t>(s > bias + 512);
        histogram_.add(s);
    }
    trim.excess.fetch_add(over, std::memory_order_relaxed);
    if (flat > 0)
        trim.quiet.fetch_add(flat, std::memory_order_relaxed);
    if (flat >= state_.plan.squelch)
        squelched.fetch_add(1, std::memory_order_relaxed);
    else
        carrierLocks.fetch_add(1, std::memory_order_relaxed);
    out.errors = b.flags & kMarkedBurst;
    ++state_.slicedBursts;
    StageMeter<BurstsSeen>::tick();
    StageMeter<SamplesSeen>::tick(kBlock);
    state_.symbols.push(out);
}

bool Slicer::step() {
    const Burst b = state_.clean[turn_].pop();
    slice(b);
    if (b.flags & kLastBurst)
        ++ended_;
    turn_ = (turn_ + 1) % kChannels;
    return ended_ < kChannels;
}

// --------------------------------------------------------------- framer

Framer::Framer(RadioState& state) : Stage(Role::Framer), state_(state) {}

bool Framer::step() {
    const Symbols s = state_.symbols.pop();
    auto& reg = shiftRegs_[s.lane];
    for (int k = static_cast<int>(kBlock) - 1; k >= 0; --k) {
        reg = reg << 1 | (s.bits >> k & 1);
        if (((reg ^ state_.plan.syncWord) & 0x7) == 0)
            ++syncs_;
        digest_ = digest_ * 16777619u ^ (reg & 0xff);
    }
    if (s.errors) {
        digest_ += nextFrameNumber();
        framesOut.fetch_add(1, std::memory_order_relaxed);
    }
    if (s.lane >= kChannels)
        ++missedMarks;
    StageMeter<BurstsSeen>::tick();
    auto& tally = laneTallies()[tlsLane];
    ++tally.bursts;
    tally.sum += s.bits;
    return steps_ + 1 < state_.plan.bursts * kChannels;
}

}  // namespace skywave
