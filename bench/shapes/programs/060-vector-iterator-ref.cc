#include <cstdio>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

struct Shard {
    unsigned capacity = 0;
    unsigned rounds = 0;
    volatile long evicted = 0;
};

static void evictor(Shard &s)
{
    unsigned char clockHand[128];
    std::memset(clockHand, 1, sizeof clockHand);
    const unsigned n = s.rounds, cap = s.capacity;
    for (unsigned i = 0; i < n; i++) {
        unsigned pos = (i * 37) % cap;
        if (clockHand[pos]) {
            clockHand[pos]--;
        } else {
            clockHand[pos] = 1;
            s.evicted = s.evicted + 1;
        }
    }
}

int main()
{
    std::vector<Shard> shards(4);
    std::vector<std::thread> pool;
    for (auto &s : shards) {
        s.capacity = 100;
        s.rounds = 900000;
    }
    for (auto it = shards.begin(); it != shards.end(); ++it)
        pool.emplace_back(evictor, std::ref(*it));
    for (auto &t : pool)
        t.join();
    long n = 0;
    for (auto it = shards.cbegin(); it != shards.cend(); ++it)
        n += it->evicted;
    std::printf("%ld\n", n);
}
