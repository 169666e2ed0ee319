#include <atomic>
#include <cstdio>
#include <deque>
#include <thread>
#include <vector>

struct Lane {
    explicit Lane(unsigned s) : seed(s) {}
    unsigned seed;
    std::atomic<unsigned> cleared{0};
};

int main()
{
    std::deque<Lane> lanes;
    for (unsigned i = 1; i <= 5; i++)
        lanes.emplace_back(i * 1009);
    std::vector<std::thread> crew;
    for (auto &lane : lanes)
        crew.push_back(std::thread([&lane] {
            unsigned row = lane.seed;
            for (int i = 0; i < 600000; i++) {
                row = (row << 1) ^ ((row >> 31) ? 0x04c11db7u : 0u);
                if ((row & 0xf) != 0xf)
                    lane.cleared.fetch_add(1, std::memory_order_relaxed);
            }
        }));
    for (auto &t : crew)
        t.join();
    unsigned total = 0;
    for (const auto &l : lanes)
        total += l.cleared.load();
    std::printf("%u\n", total);
}
