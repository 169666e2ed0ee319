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

struct alignas(64) Slot { std::atomic<uint64_t> n{0}; };

int main()
{
    const unsigned n = 4;
    std::vector<Slot> slots(n);
    std::vector<std::thread> threads;
    threads.reserve(n);
    for (unsigned i = 0; i < n; i++)
        threads.emplace_back([&slots, i] {
            uint64_t seed = i;
            for (int k = 0; k < 600000; k++) {
                uint64_t a = splitmix(seed) >> 40, b = splitmix(seed) >> 40;
                if (a * a + b * b < (1ull << 48))
                    slots[i].n.fetch_add(1, std::memory_order_relaxed);
            }
        });
    for (auto &t : threads)
        t.join();
    uint64_t in = 0;
    for (auto &s : slots)
        in += s.n;
    std::printf("pi ~ %f\n", 4.0 * in / (600000.0 * n));
}
