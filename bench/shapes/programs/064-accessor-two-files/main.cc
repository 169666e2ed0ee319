#include "quota.h"
#include <cstdio>
#include <thread>

static void uploads()
{
    unsigned x = 1;
    for (int i = 0; i < 800000; i++) {
        x = x * 1664525u + 1013904223u;
        if (x & 0x40000000)
            quotaCharge(x >> 20);
    }
}

static void gatekeeper()
{
    unsigned score = 0;
    for (int i = 0; i < 800000; i++) {
        score = score * 3 + static_cast<unsigned>(i);
        if (score % 7 < 3)
            quotaDeny();
    }
}

int main()
{
    std::thread a(uploads), b(gatekeeper);
    a.join();
    b.join();
    std::printf("%lu %lu\n", quotaUsed(), quotaDenied());
}
