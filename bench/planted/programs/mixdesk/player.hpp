#pragma once

#include <atomic>
#include <cstdint>
#include <semaphore>
#include <span>
#include <stop_token>
#include <vector>

#include "ring.hpp"

namespace mixdesk {

/// The clock of the desk.
struct Transport
{
  std::atomic<std::uint64_t> position { 0 };
  std::uint32_t bars { 0 };
  std::atomic<int> tempo { 120 };
  std::atomic<int> wave { 3 };
  std::uint32_t locateCount { 0 };
};

/// Sources of the players: a common table of waves, cut into slices.
class WaveBank
{
public:
  static constexpr std::size_t SliceLength = 20;

  explicit WaveBank( std::size_t players );
  std::span<Sample> slice( std::size_t player );

private:
  std::vector<Sample> samples;
};

/// Under- and overruns by player.
extern int xrunTable[8];

/// Credits which the mixers give back to the players.
using Credits = std::counting_semaphore<1 << 20>;

class Player
{
public:
  Player( std::size_t index_, WaveBank & bank, FrameRing & ring_, Transport & transport_, Credits & credits_ );
  void operator()( std::stop_token stop );
  auto blocks() const { return blockCount; }

private:
  void render();

  std::size_t index;
  std::span<Sample> slice;
  FrameRing & ring;
  Transport & transport;
  Credits & credits;
  std::uint32_t phase;
  std::uint64_t blockCount { 0 };
};

} // namespace mixdesk
