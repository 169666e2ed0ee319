#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>

struct Snapshot {
    std::atomic<unsigned> version{0};
    unsigned schema = 3;
};

static unsigned inspect(std::shared_ptr<const Snapshot> s, unsigned x)
{
    return x * 31 + (s != nullptr);
}

int main()
{
    auto snap = std::make_shared<Snapshot>();
    unsigned out = 0;
    std::thread copier([s = snap, &out] {
        unsigned acc = 1;
        unsigned (*volatile fn)(std::shared_ptr<const Snapshot>, unsigned) = inspect;
        for (int i = 0; i < 600000; i++)
            acc = fn(s, acc);
        out = acc;
    });
    std::thread publisher([s = snap] {
        unsigned x = 1;
        for (int i = 0; i < 900000; i++) {
            x ^= x << 13; x ^= x >> 17; x ^= x << 5;
            s->version.store(x, std::memory_order_release);
        }
    });
    copier.join();
    publisher.join();
    std::printf("%u %u\n", snap->version.load() != 0, out & 1);
}
