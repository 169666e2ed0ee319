#include "channel.hpp"

#include <cstdlib>

namespace mixdesk {

void Channel::setup( std::string_view name_, FrameRing * ring_, Effect * insert_ )
{
  name = name_;
  ring = ring_;
  insert = insert_;
}

int Channel::strip( int sample )
{
  dcOffset += ( sample - dcOffset ) / 64;
  int out = insert->process( sample - dcOffset );
  out = out * gain.load( std::memory_order_relaxed ) / 256;
  if ( std::abs( out ) > peak )
    peak = std::abs( out );
  else
    --peak;
  if ( std::abs( out ) > 1 << 20 )
    ++clips;
  return out;
}

void Channel::setGain( int g )
{
  gain.store( g, std::memory_order_relaxed );
  ++moves;
}

void Channel::setPan( int p )
{
  pan.store( p, std::memory_order_relaxed );
}

int Channel::panLeft() const
{
  return pan.load( std::memory_order_relaxed );
}

void AutomationLane::set( int gain, int pan )
{
  const auto s = sequence.load( std::memory_order_relaxed );
  sequence.store( s + 1, std::memory_order_release );
  gainValue.store( gain, std::memory_order_relaxed );
  panValue.store( pan, std::memory_order_relaxed );
  sequence.store( s + 2, std::memory_order_release );
}

bool AutomationLane::get( int & gain, int & pan )
{
  const auto before = sequence.load( std::memory_order_acquire );
  gain = gainValue.load( std::memory_order_relaxed );
  pan = panValue.load( std::memory_order_relaxed );
  readCount.fetch_add( 1, std::memory_order_relaxed );
  if ( ( before & 1 ) != 0 || sequence.load( std::memory_order_acquire ) != before )
    {
      retryCount.fetch_add( 1, std::memory_order_relaxed );
      return false;
    }
  return true;
}

} // namespace mixdesk
