#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>

class alignas(64) Device {
public:
    virtual ~Device() = default;
    virtual bool poll(unsigned v) = 0;
    void interrupt() { interrupts_.fetch_add(1, std::memory_order_relaxed); }
    unsigned interrupts() const { return interrupts_; }
protected:
    std::atomic<unsigned> interrupts_{0};
};

class NicDevice : public Device {
public:
    bool poll(unsigned v) override
    {
        if ((v & 3) == 0)
            return false;
        polls_.fetch_add(1, std::memory_order_relaxed);
        return true;
    }
    unsigned polls() const { return polls_; }
private:
    std::atomic<unsigned> polls_{0};
};

static std::unique_ptr<Device> makeDevice() { return std::make_unique<NicDevice>(); }

int main()
{
    auto dev = makeDevice();
    unsigned got = 0;
    {
        std::jthread irq([&dev] {
            unsigned line = 9;
            for (int i = 0; i < 800000; i++) {
                line = line * 17 + 3;
                if (line & 0x100)
                    dev->interrupt();
            }
        });
        std::jthread napi([d = dev.get(), &got] {
            unsigned v = 1, n = 0;
            for (int i = 0; i < 800000; i++) {
                v = v * 1103515245u + 12345u;
                n += d->poll(v >> 16);
            }
            got = n;
        });
    }
    std::printf("%u %u\n", dev->interrupts(), got);
}
