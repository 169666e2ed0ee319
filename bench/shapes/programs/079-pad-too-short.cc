#include <array>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

class Channel {
public:
    void filter(unsigned seed, int rounds)
    {
        for (int i = 0; i < rounds; i++) {
            seed = seed * 1664525u + 1013904223u;
            int64_t x = static_cast<int32_t>(seed) >> 8;
            level_ = level_ + (x - level_) / 16;
        }
    }
    int64_t level() const { return level_; }
private:
    volatile int64_t level_ = 0;
    [[maybe_unused]] char pad_[48] = {};
};

alignas(64) static std::array<Channel, 4> channels;

int main()
{
    std::vector<std::thread> ts;
    unsigned seed = 1;
    for (auto &c : channels)
        ts.emplace_back(&Channel::filter, &c, seed++, 500000);
    for (auto &t : ts)
        t.join();
    int64_t sum = 0;
    for (auto &c : channels)
        sum += c.level();
    std::printf("%ld\n", static_cast<long>(sum));
}
