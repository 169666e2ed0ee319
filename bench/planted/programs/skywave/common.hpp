#pragma once
// skywave: a software receiver for a beacon band.
//
// A tuner thread synthesises baseband samples for two channels; each channel
// is filtered on its own thread; a slicer turns the filtered samples into
// symbols; a framer collects the symbols into frames; a supervisor trims the
// gains and reads the meters while everything runs.

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace skywave {

inline constexpr std::size_t kChannels = 2;
inline constexpr std::size_t kBlock = 8;     // samples in one burst
inline constexpr std::size_t kTaps = 8;
inline constexpr std::size_t kQueueDepth = 16;
inline constexpr std::size_t kStages = 5;

using Sample = std::int32_t;

struct Burst {
    std::uint32_t serial{};
    std::uint16_t channel{};
    std::uint16_t flags{};
    std::array<Sample, kBlock> data{};
};

struct Symbols {
    std::uint32_t origin{};
    std::uint16_t lane{};
    std::uint16_t errors{};
    std::uint32_t bits{};
};

inline constexpr std::uint16_t kLastBurst = 0x8000;
inline constexpr std::uint16_t kMarkedBurst = 0x0001;

// Which of the stages the calling thread is.
enum class Role : std::uint8_t { Tuner, FilterA, FilterB, Slicer, Framer };

inline thread_local std::size_t tlsLane = kStages;

struct ReceiverPlan {
    std::uint32_t bursts = 160000;
    std::uint32_t squelch = 3;
    std::uint32_t syncWord = 0xd391;
    std::uint32_t reportEvery = 64;
    bool verbose = false;
};

inline std::uint32_t scramble(std::uint32_t x) noexcept {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return x;
}

}  // namespace skywave
