#include <array>
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

template <unsigned N>
class StripedCounter {
public:
    void add(unsigned n) { cells_[slot() % N].fetch_add(n, std::memory_order_relaxed); }
    unsigned long sum() const
    {
        unsigned long s = 0;
        for (auto &c : cells_)
            s += c.load(std::memory_order_relaxed);
        return s;
    }
private:
    static unsigned slot()
    {
        static struct alignas(64) { std::atomic<unsigned> v; } next;
        thread_local unsigned mine = next.v.fetch_add(1);
        return mine;
    }
    std::array<std::atomic<unsigned long>, N> cells_{};
};

template <typename Tag>
struct Stats {
    static StripedCounter<8> allocations;
};
template <typename Tag> StripedCounter<8> Stats<Tag>::allocations;
struct HeapTag;

static void mutate(unsigned seed)
{
    for (int i = 0; i < 700000; i++) {
        seed = seed * 1566083941u + 1;
        if (seed & 0x700000)
            Stats<HeapTag>::allocations.add(seed >> 28);
    }
}

int main()
{
    std::vector<std::thread> ts;
    for (unsigned i = 0; i < 4; i++)
        ts.push_back(std::thread(mutate, i + 3));
    for (auto &t : ts)
        t.join();
    std::printf("%lu\n", Stats<HeapTag>::allocations.sum());
}
