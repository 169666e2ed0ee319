#include <atomic>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

static uint64_t splitmix(uint64_t &s)
{
    uint64_t z = (s += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    return z ^ (z >> 31);
}

int main()
{
    const unsigned n = 4;
    std::vector<uint64_t> slots(n);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < n; i++)
        threads.emplace_back([&slots, i] {
            uint64_t seed = i;
            std::atomic_ref<uint64_t> mine(slots[i]);
            for (int k = 0; k < 600000; k++) {
                uint64_t a = splitmix(seed) >> 40, b = splitmix(seed) >> 40;
                if (a * a + b * b < (1ull << 48))
                    mine.fetch_add(1, std::memory_order_relaxed);
            }
        });
    for (auto &t : threads)
        t.join();
    uint64_t in = 0;
    for (auto v : slots)
        in += v;
    std::printf("pi ~ %f\n", 4.0 * in / (600000.0 * n));
}
