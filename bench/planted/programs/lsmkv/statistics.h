#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>

namespace lsmkv {

enum Ticker {
  kWrites,
  kWriteBytes,
  kMemHits,
  kTableHits,
  kMisses,
  kCompactedEntries,
  kCorruptions,  // never, unless the disk lies
  kTickerCount,
};

extern std::atomic<std::uint64_t> g_tickers[kTickerCount];

inline void Tick(Ticker t, std::uint64_t n = 1) {
  g_tickers[t].fetch_add(n, std::memory_order_relaxed);
}

void DumpTickers(std::FILE* f);

}  // namespace lsmkv
