#include "world.hpp"
#include <cstdlib>
#include <stdexcept>

using namespace arena;

namespace {

struct Settings {
    long ticks = 10000;
    unsigned snapshot_every = 512;
    std::string title = "arena";
};

Settings settings_from_env() {
    Settings s;
    if (const char *e = std::getenv("LOAD")) {
        char *end = nullptr;
        s.ticks = std::strtol(e, &end, 0);
        if (*end || s.ticks <= 0)
            throw std::invalid_argument("LOAD");
    }
    return s;
}

// progress of the two loaders, which run one after the other
struct alignas(64) Loading {
    std::uint64_t maps = 0;
    std::uint64_t models = 0;
};

void load_assets(Loading &l) {
    auto work = [](std::uint64_t *n, unsigned rounds) {
        for (unsigned i = 0; i < rounds; i++)
            __atomic_fetch_add(n, i, __ATOMIC_RELAXED);
    };
    std::thread a(work, &l.maps, 100u);
    a.join();
    std::thread b(work, &l.models, 100u);
    b.join();
}

void network_in(World &w, long packets) {
    char packet[24];
    std::uint32_t x = 521288629u;
    for (long k = 0; k < packets && !w.failed().load(std::memory_order_relaxed); k++) {
        for (unsigned i = 0; i < sizeof packet; i += 4) {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            std::memcpy(packet + i, &x, 4);
        }
        w.receive(packet, 8 + x % 16);
    }
}

void network_out(World &w, long packets) {
    char packet[64];
    std::uint64_t total = 0;
    for (long k = 0; k < packets && !w.failed().load(std::memory_order_relaxed); k++)
        total += w.transmit(packet, sizeof packet);
    if (total == 0)
        std::fprintf(stderr, "network: nothing sent\n");
}

// two halves of the frame timer, kept by two threads in one local record
struct Timers {
    std::uint64_t ticks = 0;
    std::uint64_t thoughts = 0;
    std::uint64_t unused[6] = {};
};

void ai_main(World &w, Tally &t, Timers &timers, long steps) {
    for (long k = 0; k < steps && !w.failed().load(std::memory_order_relaxed); k++) {
        w.ai().step();
        __atomic_fetch_add(&timers.thoughts, 1, __ATOMIC_RELAXED);
        t.events++;
    }
}

void run(World &w, const Settings &s) {
    alignas(64) Timers timers;
    Tally &ai_tally = w.open_tally();
    std::thread in(network_in, std::ref(w), s.ticks * 300), out(network_out, std::ref(w), s.ticks * 300);
    std::thread ai(ai_main, std::ref(w), std::ref(ai_tally), std::ref(timers), s.ticks * 60);
    {
        pool::Pool p(kWorkers);
        for (long t = 0; t < s.ticks; t++) {
            for (unsigned c = 0; c < kEntities; c += kChunk) {
                p.submit([&w, c](unsigned worker) { w.physics_chunk(c, worker); });
                __atomic_fetch_add(&timers.ticks, 1, __ATOMIC_RELAXED);
            }
            for (unsigned k = 0; k < kWorkers; k++)
                p.submit([&w, k](unsigned worker) { w.heat_stripe(k, worker); });
            p.wait_all();
            if (t % s.snapshot_every == 0)
                w.snapshot();
        }
        for (unsigned i = 0; i < p.size(); i++)
            std::printf("worker %u: %llu jobs\n", i,
                        static_cast<unsigned long long>(p.executed(i)));
        std::printf("second looks: %llu\n", static_cast<unsigned long long>(p.idle()));
    }
    in.join();
    out.join();
    ai.join();
    std::printf("ticks %llu thoughts %llu\n", static_cast<unsigned long long>(timers.ticks),
                static_cast<unsigned long long>(timers.thoughts));
}

} // namespace

int main() {
    try {
        Settings s = settings_from_env();
        Loading loading;
        load_assets(loading);
        auto w = std::make_unique<World>();
        std::printf("%s: %ld ticks, %u entities, assets %llu\n", s.title.c_str(), s.ticks, kEntities,
                    static_cast<unsigned long long>(loading.maps + loading.models));
        run(*w, s);
        w->report(stdout);
        std::printf("events %llu\n", static_cast<unsigned long long>(count_total()));
    } catch (const std::exception &e) {
        std::fprintf(stderr, "arena: %s\n", e.what());
        return 1;
    }
    return 0;
}
