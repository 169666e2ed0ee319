#include <array>
#include <atomic>
#include <cstdio>
#include <thread>

template <typename D>
class Active {
public:
    std::thread launch() { return std::thread([this] { static_cast<D *>(this)->loop(); }); }
};

class Beacon : public Active<Beacon> {
public:
    void setup(unsigned period, int rounds) { period_ = period; rounds_ = rounds; }
    void loop()
    {
        unsigned phase = 0;
        const unsigned period = period_;
        for (int i = rounds_; i > 0; i--) {
            phase += 97;
            if (phase % period < 40)
                sent_.fetch_add(1, std::memory_order_relaxed);
        }
    }
    unsigned sent() const { return sent_; }
private:
    unsigned period_ = 1;
    int rounds_ = 0;
    std::atomic<unsigned> sent_{0};
};

static std::array<Beacon, 4> beacons;

int main()
{
    std::array<std::thread, 4> ts;
    for (unsigned i = 0; i < 4; i++)
        beacons[i].setup(41 + i * 2, 900000);
    for (unsigned i = 0; i < 4; i++)
        ts[i] = beacons[i].launch();
    unsigned n = 0;
    for (unsigned i = 0; i < 4; i++) {
        ts[i].join();
        n += beacons[i].sent();
    }
    std::printf("%u\n", n);
}
