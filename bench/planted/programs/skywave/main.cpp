#include <cstdio>
#include <cstdlib>

#include "stages.hpp"

namespace skywave {
namespace {

// What the supervisor keeps of its own; nobody else looks at it until the
// receiver has stopped.
struct Logbook {
    std::array<std::uint32_t, 16> trims{};
    std::uint32_t rounds{0};
    std::uint32_t mostWorking{0};
};

Logbook logbook;
std::uint32_t bootMessages = 0;

class Supervisor {
public:
    explicit Supervisor(RadioState& state) : state_(state) {}

    void start() {
        watcher_ = std::jthread([this](std::stop_token stop) { watch(stop); });
    }
    void finish() {
        watcher_.request_stop();
        watcher_.join();
    }

private:
    void watch(std::stop_token stop) {
        while (!stop.stop_requested()) {
            for (auto& t : state_.trims)
                trimOne(*t);
            const unsigned busy = MoodRing::working();
            if (busy > logbook.mostWorking)
                logbook.mostWorking = busy;
            ++logbook.rounds;
            trimPasses.fetch_add(1, std::memory_order_relaxed);
            std::this_thread::yield();
        }
    }

    // The bias follows the excess.  (It is read for the meters only: no
    // symbol depends on it.)
    void trimOne(Trim& t) {
        const auto excess = t.excess.load(std::memory_order_relaxed);
        const auto next = static_cast<std::int32_t>(scramble(excess + t.channelNo) & 255);
        t.bias.store(next, std::memory_order_relaxed);
        t.adjustments.fetch_add(1, std::memory_order_relaxed);
        logbook.trims[static_cast<std::size_t>(next) & 15]++;
    }

    RadioState& state_;
    std::jthread watcher_;
};

// All of the receiver.  The stages live side by side in here.
class Receiver {
public:
    explicit Receiver(const ReceiverPlan& plan)
        : tuner_(state_), filterA_(state_, 0), filterB_(state_, 1), slicer_(state_), framer_(state_),
          supervisor_(state_) {
        state_.plan = plan;
        designBank(state_.bank);
        for (std::size_t c = 0; c < kChannels; ++c) {
            state_.trims[c] = std::make_unique<Trim>();
            state_.trims[c]->channelNo = static_cast<std::uint16_t>(c);
            state_.trims[c]->bandwidth = static_cast<std::uint16_t>(2200 - 100 * c);
        }
        laneTallies();
        ++bootMessages;
        Journal::instance().write("receiver ready", plan.bursts);
    }

    void run() {
        supervisor_.start();
        framer_.start();
        slicer_.start();
        filterB_.start();
        filterA_.start();
        tuner_.start();
        tuner_.finish();
        filterA_.finish();
        filterB_.finish();
        slicer_.finish();
        framer_.finish();
        supervisor_.finish();
    }

    void report() {
        std::printf("tuned %u sliced %u samples %u\n", state_.tunedBursts, state_.slicedBursts,
                    tuner_.produced());
        std::printf("frames %u digest %08x syncs %u weight %u\n", framesOut.load(), framer_.digest(),
                    framer_.syncs(), slicer_.weight());
        std::printf("overloads %u %u runs %u %u\n", filterA_.overloads(), filterB_.overloads(),
                    state_.bank.runsA, state_.bank.clippedB);
        std::printf("meter bursts %llu samples %llu\n",
                    static_cast<unsigned long long>(StageMeter<BurstsSeen>::total()),
                    static_cast<unsigned long long>(StageMeter<SamplesSeen>::total()));
        for (std::size_t lane = 0; lane < kStages; ++lane) {
            const auto& t = laneTallies()[lane];
            std::printf("lane %zu: %u bursts, %u marked, sum %llu, energy %llu\n", lane, t.bursts,
                        t.marked, static_cast<unsigned long long>(t.sum),
                        static_cast<unsigned long long>(LevelBoard::energyOf(lane)));
        }
        if (state_.plan.verbose)
            std::printf("supervisor: %u rounds, busiest %u, link traffic %u\n", logbook.rounds,
                        logbook.mostWorking, state_.symbols.traffic());
        std::printf("levels %u, journal: %zu entries\n", levelSum(), Journal::instance().entries());
    }

private:
    RadioState state_;
    Tuner tuner_;
    ChannelFilter filterA_;
    ChannelFilter filterB_;
    Slicer slicer_;
    Framer framer_;
    Supervisor supervisor_;
};

}  // namespace
}  // namespace skywave

int main(int argc, char** argv) {
    skywave::ReceiverPlan plan;
    for (int k = 1; k < argc; ++k) {
        const std::string_view a = argv[k];
        if (a == "-v")
            plan.verbose = true;
        else if (const int n = std::atoi(argv[k]); n > 0)
            plan.bursts = static_cast<std::uint32_t>(n);
        else {
            std::fprintf(stderr, "usage: skywave [-v] [bursts]\n");
            return 2;
        }
    }
    auto receiver = std::make_unique<skywave::Receiver>(plan);
    receiver->run();
    receiver->report();
    return 0;
}
