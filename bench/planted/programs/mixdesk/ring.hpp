#pragma once
// Frames travel from a player to the strip that mixes it.

#include <array>
#include <atomic>
#include <cstdint>
#include <algorithm>
#include <span>

namespace mixdesk {

using Sample = std::int16_t;
inline constexpr std::size_t BlockFrames = 20;
using Block = std::array<Sample, BlockFrames>;

class FrameRing
{
public:
  static constexpr std::uint32_t Depth = 4;

  bool write( std::span<const Sample> block )
  {
    auto w = writeIndex.load( std::memory_order_relaxed );
    if ( w - readIndex.load( std::memory_order_acquire ) == Depth )
      {
        ++fullCount;
        return false;
      }
    std::copy( block.begin(), block.end(), slots[w % Depth].begin() );
    writeIndex.store( w + 1, std::memory_order_release );
    return true;
  }

  bool read( Block & into )
  {
    auto r = readIndex.load( std::memory_order_relaxed );
    if ( r == writeIndex.load( std::memory_order_acquire ) )
      {
        ++emptyCount;
        return false;
      }
    into = slots[r % Depth];
    readIndex.store( r + 1, std::memory_order_release );
    return true;
  }

  auto empties() const { return emptyCount; }
  auto fulls() const { return fullCount; }

private:
  alignas( 64 ) std::atomic<std::uint32_t> writeIndex { 0 };
  std::uint32_t fullCount { 0 };
  std::atomic<std::uint32_t> readIndex { 0 };
  std::uint32_t emptyCount { 0 };
  alignas( 64 ) std::array<Block, Depth> slots {};
};

} // namespace mixdesk
