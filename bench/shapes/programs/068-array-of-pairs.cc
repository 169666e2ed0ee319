#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>

class alignas(64) Domain {
    static constexpr size_t kSlots = 4;
    struct Slot { std::atomic<uint32_t> epoch{0}; };
    std::array<Slot, kSlots> slots_;
public:
    void enter(size_t i, uint32_t e) { slots_[i].epoch.store(e | 1, std::memory_order_release); }
    void leave(size_t i) { slots_[i].epoch.store(0, std::memory_order_release); }
    uint64_t run(int rounds)
    {
        std::array<uint64_t, kSlots * 8> out{};
        {
            std::array<std::jthread, kSlots> ts;
            for (size_t i = 0; i < kSlots; i++)
                ts[i] = std::jthread([this, i, rounds, &out] {
                    uint64_t h = i;
                    for (int r = 0; r < rounds; r++) {
                        enter(i, static_cast<uint32_t>(r) << 1);
                        h = (h ^ static_cast<uint64_t>(r)) * 0x100000001b3ull;
                        leave(i);
                    }
                    out[i * 8] = h;
                });
        }
        return out[0] ^ out[8] ^ out[16] ^ out[24];
    }
};

int main()
{
    auto d = std::make_unique<Domain>();
    std::printf("%lx\n", static_cast<unsigned long>(d->run(700000)));
}
