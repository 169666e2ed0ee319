#include "effects.hpp"

#include <algorithm>

namespace mixdesk {

int LowPass::process( int sample )
{
  memory += ( sample - memory ) >> shift;
  return memory;
}

int Limiter::process( int sample )
{
  const int level = sample < 0 ? -sample : sample;
  if ( level > ceiling )
    reduction = std::min( reduction + 1, 7 );
  else
    reduction = std::max( reduction - 1, 0 );
  return sample - ( ( sample * reduction ) >> 4 );
}

Rack::Rack() : arena { storage, sizeof( storage ), std::pmr::null_memory_resource() } {}

Rack::~Rack()
{
  for ( auto * e : all )
    e->~Effect();
}

} // namespace mixdesk
