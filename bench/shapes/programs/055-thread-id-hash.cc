#include <atomic>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

constexpr unsigned kStripes = 16;
std::atomic<unsigned> stripes[kStripes];

static unsigned myStripe()
{
    size_t h = std::hash<std::thread::id>{}(std::this_thread::get_id());
    h ^= h >> 21;
    return static_cast<unsigned>((h * 0x9e3779b97f4a7c15ull) >> 60);
}

static void allocLoop(unsigned seed)
{
    for (int i = 0; i < 600000; i++) {
        seed = seed * 214013u + 2531011u;
        if ((seed >> 16) & 7)
            stripes[myStripe()].fetch_add(1, std::memory_order_relaxed);
    }
}

int main()
{
    std::vector<std::thread> v;
    for (unsigned i = 0; i < 6; i++)
        v.emplace_back(allocLoop, i * 977 + 1);
    for (auto &t : v)
        t.join();
    unsigned n = 0;
    for (auto &s : stripes)
        n += s.load();
    std::printf("%u\n", n);
}
