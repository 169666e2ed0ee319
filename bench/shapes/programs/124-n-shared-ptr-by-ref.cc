#include <cstdio>
#include <memory>
#include <thread>

struct Snapshot {
    volatile unsigned version = 17;
    volatile unsigned schema = 3;
};

static unsigned inspect(const std::shared_ptr<const Snapshot> &s, unsigned x)
{
    return x * 31 + s->version;
}

int main()
{
    auto snap = std::make_shared<const Snapshot>();
    unsigned a = 0, b = 0;
    std::thread reader([&snap, &a] {
        unsigned acc = 1;
        for (int i = 0; i < 900000; i++)
            acc = inspect(snap, acc);
        a = acc;
    });
    std::thread checker([&snap, &b] {
        unsigned x = 1;
        for (int i = 0; i < 900000; i++) {
            x ^= x << 13; x ^= x >> 17; x ^= x << 5;
            x += snap->schema;
        }
        b = x;
    });
    reader.join();
    checker.join();
    std::printf("%u\n", (a ^ b) != 0);
}
