// Two counters of a library side by side: one gives numbers to spans, the other counts what was dropped.
// about: next_span_id dropped_events
#include <atomic>
#include <cstdint>
#include <string>

namespace tracing {
namespace {
#ifdef FIXED
alignas(64) std::atomic<uint64_t> next_span_id{0};
alignas(64) std::atomic<uint64_t> dropped_events{0};
#else
std::atomic<uint64_t> next_span_id{0};
std::atomic<uint64_t> dropped_events{0};
#endif
#ifdef EDIT
constexpr int kMaxName = 64;
#else
constexpr int kMaxName = 48;
#endif
} // namespace

struct Span {
  uint64_t id;
  char name[64];
};

void begin(Span &span, const std::string &name) {
  span.id = next_span_id.fetch_add(1, std::memory_order_relaxed);
  name.copy(span.name, kMaxName);
}

bool record(Span **ring, uint64_t at, uint64_t size, Span *span) {
  if (ring[at % size]) {
    dropped_events.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  ring[at % size] = span;
  return true;
}

uint64_t dropped() { return dropped_events.load(std::memory_order_relaxed); }
} // namespace tracing
