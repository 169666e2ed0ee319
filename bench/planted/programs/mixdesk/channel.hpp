#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "effects.hpp"
#include "ring.hpp"

namespace mixdesk {

/// One strip of the desk.
class Channel
{
public:
  Channel() = default;

  void setup( std::string_view name_, FrameRing * ring_, Effect * insert_ );
  int strip( int sample );
  void setGain( int g );
  void setPan( int p );
  int panLeft() const;
  FrameRing & input() { return *ring; }
  std::string_view label() const { return name; }
  int peakValue() const { return peak; }

private:
  alignas( 64 ) std::atomic<int> gain { 200 };
  std::atomic<int> pan { 128 };
  std::uint32_t moves { 0 };
  int peak { 0 };
  int dcOffset { 0 };
  std::uint32_t clips { 0 };
  alignas( 64 ) std::string_view name;
  FrameRing * ring { nullptr };
  Effect * insert { nullptr };
};

/// A value with a sequence number; one writer.
class AutomationLane
{
public:
  void set( int gain, int pan );
  bool get( int & gain, int & pan );
  auto retries() const { return retryCount.load(); }

private:
  alignas( 64 ) std::atomic<std::uint32_t> sequence { 0 };
  std::atomic<int> gainValue { 200 };
  std::atomic<int> panValue { 128 };
  std::atomic<std::uint32_t> readCount { 0 };
  std::atomic<std::uint32_t> retryCount { 0 };
};

} // namespace mixdesk
