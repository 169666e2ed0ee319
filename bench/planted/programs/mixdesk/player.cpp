#include "player.hpp"

#include <thread>

namespace mixdesk {

alignas( 64 ) int xrunTable[8];

namespace {
thread_local std::uint32_t noise = 1;

int dither()
{
  noise = noise * 196314165u + 907633515u;
  return static_cast<int>( noise >> 30 );
}
} // namespace

WaveBank::WaveBank( std::size_t players ) : samples( players * SliceLength ) {}

std::span<Sample> WaveBank::slice( std::size_t player )
{
  return std::span { samples }.subspan( player * SliceLength, SliceLength );
}

Player::Player( std::size_t index_, WaveBank & bank, FrameRing & ring_, Transport & transport_, Credits & credits_ )
  : index { index_ }, slice { bank.slice( index_ ) }, ring { ring_ }, transport { transport_ },
    credits { credits_ }, phase { static_cast<std::uint32_t>( index_ * 977 ) }
{
}

void Player::render()
{
  const int step = transport.tempo.load( std::memory_order_relaxed ) + static_cast<int>( index ) * 7;
  const int shape = transport.wave.load( std::memory_order_relaxed );
  for ( auto & s : slice )
    {
      phase += static_cast<std::uint32_t>( step << shape );
      s = static_cast<Sample>( static_cast<int>( phase & 0x3fff ) - 0x2000 + dither() );
    }
}

void Player::operator()( std::stop_token stop )
{
  std::atomic_ref<int> xruns { xrunTable[index] };
  while ( !stop.stop_requested() )
    {
      if ( !credits.try_acquire() )
        {
          std::this_thread::yield();
          continue;
        }
      render();
      while ( !ring.write( slice ) )
        {
          xruns.fetch_add( 1, std::memory_order_relaxed );
          if ( stop.stop_requested() )
            return;
          std::this_thread::yield();
        }
      xruns.fetch_add( 1, std::memory_order_relaxed );
      ++blockCount;
    }
}

} // namespace mixdesk
