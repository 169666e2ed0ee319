#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <vector>

#include "ring.hpp"

namespace mixdesk {

/// An insert effect; keeps its own state from block to block.
class Effect
{
public:
  virtual ~Effect() = default;
  virtual int process( int sample ) = 0;
  virtual const char * title() const = 0;
};

class LowPass final : public Effect
{
public:
  explicit LowPass( int shift_ ) : shift { shift_ } {}
  int process( int sample ) override;
  const char * title() const override { return "low pass"; }

private:
  int shift;
  int memory { 0 };
};

class Limiter final : public Effect
{
public:
  explicit Limiter( int ceiling_ ) : ceiling { ceiling_ } {}
  int process( int sample ) override;
  const char * title() const override { return "limiter"; }

private:
  int ceiling;
  int reduction { 0 };
};

/// Effects live as long as the rack, one after the other in its arena.
class Rack
{
public:
  Rack();
  ~Rack();
  Rack( const Rack & ) = delete;
  Rack & operator=( const Rack & ) = delete;

  template<typename E, typename... Args>
  Effect * add( Args &&... args )
  {
    void * where = arena.allocate( sizeof( E ), alignof( E ) );
    auto * e = new ( where ) E( std::forward<Args>( args )... );
    all.push_back( e );
    return e;
  }

private:
  alignas( 64 ) std::byte storage[512];
  std::pmr::monotonic_buffer_resource arena;
  std::vector<Effect *> all;
};

} // namespace mixdesk
