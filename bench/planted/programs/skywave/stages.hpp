#pragma once
#include "conduit.hpp"
#include "dsp.hpp"
#include "meters.hpp"

namespace skywave {

// Every stage derives from this with itself as the argument: run() does the
// bookkeeping, Derived::step() the work.  step() returns false at the end.
template <typename Derived>
class Stage {
public:
    explicit Stage(Role role) : role_(role) {}
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

    void start() {
        runner_ = std::jthread([this](std::stop_token stop) { this->run(stop); });
    }
    void finish() {
        if (runner_.joinable())
            runner_.join();
    }
    std::uint32_t steps() const { return steps_; }

protected:
    void run(std::stop_token stop) {
        enterLane(role_);
        while (!stop.stop_requested()) {
            if (!static_cast<Derived*>(this)->step())
                break;
            ++steps_;
        }
        MoodRing::set(Mood::Gone);
    }

    std::uint32_t steps_{0};
    Role role_;
    std::jthread runner_;
};

// The parts that several stages look at, in one place.
struct RadioState {
    ReceiverPlan plan;
    TapBank bank;
    std::array<std::unique_ptr<Trim>, kChannels> trims;
    std::array<BurstLink, kChannels> raw;
    std::array<BurstLink, kChannels> clean;
    SymbolLink symbols;
    std::atomic<bool> antenna{true};
    std::uint32_t tunedBursts{0};      // tuner
    std::uint32_t slicedBursts{0};     // slicer
};

class Tuner : public Stage<Tuner> {
public:
    explicit Tuner(RadioState& state);
    bool step();
    std::uint32_t produced() const { return oscillators_[0].produced + oscillators_[1].produced; }

private:
    RadioState& state_;
    std::array<Oscillator, kChannels> oscillators_;
    std::uint32_t nextBurst_{0};
};

class ChannelFilter : public Stage<ChannelFilter> {
public:
    ChannelFilter(RadioState& state, std::uint16_t channel);
    bool step();
    std::uint32_t overloads() const { return line_.overloads; }

private:
    RadioState& state_;
    std::uint16_t channel_;
    DelayLine line_;
};

class Slicer : public Stage<Slicer> {
public:
    explicit Slicer(RadioState& state);
    bool step();
    std::uint32_t weight() const { return histogram_.weight(); }

private:
    void slice(const Burst& b);
    RadioState& state_;
    DecisionHistogram histogram_;
    std::size_t turn_{0};
    std::size_t ended_{0};
};

class Framer : public Stage<Framer> {
public:
    explicit Framer(RadioState& state);
    bool step();
    std::uint32_t digest() const { return digest_; }
    std::uint32_t syncs() const { return syncs_; }

private:
    RadioState& state_;
    std::array<std::uint32_t, kChannels> shiftRegs_{};
    std::uint32_t digest_{1};
    std::uint32_t syncs_{0};
};

// What the tuner and the filters count of one channel; a vector of these
// has one element for each lane.
struct LaneTally {
    std::uint32_t bursts{};
    std::uint32_t marked{};
    std::uint64_t sum{};
};

std::vector<LaneTally>& laneTallies();
std::uint32_t nextSerial();
std::uint32_t nextFrameNumber();
// The last levels of all channels and what was squelched; after the end.
std::uint32_t levelSum();

}  // namespace skywave
