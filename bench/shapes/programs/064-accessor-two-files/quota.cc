#include "quota.h"
#include <atomic>

namespace {
struct Quota {
    std::atomic<unsigned long> used{0};
    std::atomic<unsigned long> denied{0};
};
alignas(16) Quota quota;
}

void quotaCharge(unsigned bytes) { quota.used.fetch_add(bytes, std::memory_order_relaxed); }
void quotaDeny() { quota.denied.fetch_add(1, std::memory_order_relaxed); }
unsigned long quotaUsed() { return quota.used; }
unsigned long quotaDenied() { return quota.denied; }
