#include "statistics.h"

namespace lsmkv {

alignas(64) std::atomic<std::uint64_t> g_tickers[kTickerCount];

namespace {
const char* const kNames[kTickerCount] = {
    "writes", "write.bytes", "mem.hits", "table.hits", "misses", "compacted", "corruptions",
};
}  // namespace

void DumpTickers(std::FILE* f) {
  for (int t = 0; t < kTickerCount; ++t)
    std::fprintf(f, "%-12s %llu\n", kNames[t], (unsigned long long)g_tickers[t].load());
}

}  // namespace lsmkv
