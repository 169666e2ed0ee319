#include "desk.hpp"

#include <algorithm>
#include <cstdio>

namespace mixdesk {

namespace {
constexpr std::array<std::string_view, Channels> Names { "drums", "bass", "keys", "voice" };
}

Desk::Desk( const Settings & s )
  : settings { s }, bank { Channels }, buses( Mixers ), meters { std::make_unique<Meters>() },
    block { static_cast<std::ptrdiff_t>( Mixers ), Phase { this } }
{
  for ( std::size_t c = 0; c < Channels; ++c )
    {
      Effect * insert = c % 2 == 0 ? rack.add<LowPass>( 2 ) : rack.add<Limiter>( 3000 );
      channels[c].setup( Names[c], &rings[c], insert );
      players.push_back( std::make_unique<Player>( c, bank, rings[c], transport, credits[c] ) );
    }
}

void Desk::mixChannel( std::size_t mixer, std::size_t channel, const Block & frames )
{
  Channel & ch = channels[channel];
  Bus & bus = buses[mixer];
  const int pan = ch.panLeft();
  int top = 0;

  for ( const Sample s : frames )
    {
      const int v = ch.strip( s );
      bus.left += v * pan;
      bus.right += v * ( 256 - pan );
      top = std::max( top, v );
    }
  ++bus.mixed;
  meters->level[channel].store( top, std::memory_order_relaxed );
  totals[mixer].samples += frames.size();
}

void Desk::endOfBlock() noexcept
{
  // One thread is here while the others wait.
  for ( auto & b : buses )
    {
      masterSum += b.left - b.right;
      b.left /= 2;
      b.right /= 2;
    }
  ++masterBlocks;
}

void Desk::mixMain( std::size_t mixer )
{
  Block frames;
  for ( std::uint32_t n = 0; n < settings.blocks; ++n )
    {
      for ( std::size_t c = mixer; c < Channels; c += Mixers )
        {
          while ( !rings[c].read( frames ) )
            {
              ++totals[mixer].starved;
              std::this_thread::yield();
            }
          credits[c].release();
          if ( muted[c].load( std::memory_order_relaxed ) )
            frames.fill( 0 );
          mixChannel( mixer, c, frames );
        }
      if ( mixer == 0 )
        {
          transport.position.fetch_add( BlockFrames, std::memory_order_relaxed );
          if ( ( n & 3 ) == 0 )
            ++transport.bars;
        }
      block.arrive_and_wait();
    }
}

void Desk::meterMain( std::stop_token stop )
{
  while ( !stop.stop_requested() )
    {
      int top = 0;
      for ( const auto & l : meters->level )
        top = std::max( top, l.load( std::memory_order_relaxed ) );
      meters->loudest = std::max( meters->loudest - 1, top );
      ++meters->refreshes;
      if ( top > 1 << 24 )
        ++meters->overloads;
      int gain, pan;
      if ( lane.get( gain, pan ) && settings.showMeters )
        std::fprintf( stderr, "peak %d gain %d pan %d\n", top, gain, pan );
      std::this_thread::yield();
    }
}

void Desk::automationMain( std::stop_token stop )
{
  std::uint32_t tick = 0;
  while ( !stop.stop_requested() )
    {
      const auto c = ++tick % Channels;
      const int wave = static_cast<int>( tick & 127 );
      lane.set( 160 + wave, 64 + wave );
      channels[c].setGain( 160 + wave );
      channels[c].setPan( 64 + wave );
      muted[c].store( wave == 100, std::memory_order_relaxed );
      muteSeen[c] ^= 1;
      std::this_thread::yield();
    }
}

void Desk::run()
{
  std::vector<std::jthread> services;
  for ( auto & p : players )
    services.emplace_back( [&p]( std::stop_token st ) { ( *p )( st ); } );
  services.emplace_back( std::bind_front( &Desk::meterMain, this ) );
  services.emplace_back( std::bind_front( &Desk::automationMain, this ) );
  {
    std::vector<std::jthread> mixers;
    for ( std::size_t m = 0; m < Mixers; ++m )
      mixers.emplace_back( [this, m] { mixMain( m ); } );
  }
  for ( auto & s : services )
    s.request_stop();
}

void Desk::report() const
{
  std::printf( "blocks %llu position %llu\n", static_cast<unsigned long long>( masterBlocks ),
               static_cast<unsigned long long>( transport.position.load() ) );
  for ( std::size_t m = 0; m < Mixers; ++m )
    std::printf( "mixer %zu: %llu samples, %u strips\n", m,
                 static_cast<unsigned long long>( totals[m].samples ), buses[m].mixed );
  for ( std::size_t c = 0; c < Channels; ++c )
    std::printf( "%s: %s, ring %s\n", channels[c].label().data(),
                 players[c]->blocks() > 0 ? "played" : "silent", rings[c].fulls() > 0 ? "full at times" : "never full" );
  std::printf( "meters %s, master %s\n", meters->refreshes > 0 ? "ran" : "did not run",
               masterSum != 0 ? "sounding" : "silent" );
}

} // namespace mixdesk
