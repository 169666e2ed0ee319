#pragma once

#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "channel.hpp"
#include "player.hpp"

namespace mixdesk {

inline constexpr std::size_t Channels = 4;
inline constexpr std::size_t Mixers = 2;

struct Settings
{
  std::uint32_t blocks = 12000;
  bool showMeters = false;
};

/// Left and right sums of one mixing thread.
struct Bus
{
  std::int64_t left { 0 };
  std::int64_t right { 0 };
  std::uint32_t mixed { 0 };
};

struct alignas( 64 ) MixerTotals
{
  std::uint64_t samples { 0 };
  std::uint64_t starved { 0 };
};

/// Peaks of the channels, and what the meter makes of them.
struct Meters
{
  std::array<std::atomic<int>, Channels> level {};
  std::uint32_t refreshes { 0 };
  int loudest { 0 };
  std::uint32_t overloads { 0 };
};

class Desk
{
public:
  explicit Desk( const Settings & s );
  void run();
  void report() const;

private:
  struct Phase
  {
    Desk * desk;
    void operator()() noexcept { desk->endOfBlock(); }
  };

  void mixMain( std::size_t mixer );
  void meterMain( std::stop_token stop );
  void automationMain( std::stop_token stop );
  void mixChannel( std::size_t mixer, std::size_t channel, const Block & block );
  void endOfBlock() noexcept;

  Settings settings;
  Rack rack;
  WaveBank bank;
  std::array<FrameRing, Channels> rings;
  std::array<Channel, Channels> channels;
  AutomationLane lane;
  alignas( 64 ) Transport transport;
  alignas( 64 ) std::array<Credits, Channels> credits { Credits { 4 }, Credits { 4 }, Credits { 4 }, Credits { 4 } };
  std::vector<Bus> buses;
  std::array<MixerTotals, Mixers> totals {};
  std::unique_ptr<Meters> meters;
  alignas( 64 ) std::array<std::atomic<bool>, Channels> muted {};
  std::array<std::uint8_t, Channels> muteSeen {};
  alignas( 64 ) std::int64_t masterSum { 0 };
  std::uint64_t masterBlocks { 0 };
  alignas( 64 ) std::barrier<Phase> block;
  std::vector<std::unique_ptr<Player>> players;
};

} // namespace mixdesk
