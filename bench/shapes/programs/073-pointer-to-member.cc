#include <atomic>
#include <cstdio>
#include <thread>

struct Totals {
    std::atomic<unsigned> hits{0};
    std::atomic<unsigned> misses{0};
};
alignas(64) static Totals totals;

using Field = std::atomic<unsigned> Totals::*;

static void probe(Totals *t, Field field, unsigned seed, unsigned limit)
{
    for (int i = 0; i < 800000; i++) {
        seed = seed * 1597334677u + 3812015801u;
        if ((seed >> 22) < limit)
            (t->*field).fetch_add(1, std::memory_order_relaxed);
    }
}

int main()
{
    std::thread a(probe, &totals, &Totals::hits, 1u, 700u);
    std::thread b(probe, &totals, &Totals::misses, 2u, 500u);
    a.join();
    b.join();
    std::printf("%u %u\n", totals.hits.load(), totals.misses.load());
}
