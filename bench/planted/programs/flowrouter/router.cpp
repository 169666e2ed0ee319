#include "router.h"

#include "settings.h"

#include <chrono>
#include <iostream>

void StartGate::arrive()
{
    std::unique_lock<std::mutex> hold(mutex_);
    if (--wanted_ == 0)
        changed_.notify_all();
    else
        changed_.wait(hold, [this] { return wanted_ <= 0; });
}

bool Mailbox::post(std::uint32_t m)
{
    std::uint32_t n = posted_.load(std::memory_order_relaxed);
    if (n - taken_.load(std::memory_order_acquire) >= slots_.size())
        return false;
    slots_[n % slots_.size()] = m;
    posted_.store(n + 1, std::memory_order_release);
    return true;
}

bool Mailbox::take(std::uint32_t &m)
{
    std::uint32_t n = taken_.load(std::memory_order_relaxed);
    if (n == posted_.load(std::memory_order_acquire))
        return false;
    m = slots_[n % slots_.size()];
    taken_.store(n + 1, std::memory_order_release);
    return true;
}

Router::Router(long rounds) : rounds_(rounds), chains_(kWorkers), counters_(kWorkers), times_(kWorkers), warm_(kWorkers)
{
    for (int i = 0; i < kPorts; i++) {
        if (i == kPorts - 1)
            fabric_.ports.push_back(std::make_unique<TunnelPort>(i, settings.mtu));
        else
            fabric_.ports.push_back(std::make_unique<WirePort>(i, settings.mtu));
    }
    // One kind of element after the other, for all workers.
    using Maker = std::unique_ptr<Element> (*)(int);
    for (Maker make : {make_check, make_meter, make_flow, make_nat, make_route})
        for (int w = 0; w < kWorkers; w++)
            chains_[std::size_t(w)].push_back(make(w));
    for (int w = 0; w < kWorkers; w++)
        backoffs_.push_back(std::make_unique<Backoff>());
    for (int w = 0; w < kWorkers; w++)
        mailboxes_.push_back(std::make_unique<Mailbox>());
}

Router::~Router()
{
    for (auto &t : threads_)
        if (t.joinable())
            t.join();
}

// Each thread makes a few packets and puts their digest away; all are joined before the workers start.
void Router::warm_up()
{
    std::vector<std::thread> threads;
    for (int w = 0; w < kWorkers; w++)
        threads.emplace_back([this, w] {
            Generator gen(std::uint32_t(90 + w));
            Packet p;
            std::uint64_t digest = 0;
            for (int i = 0; i < 50; i++) {
                gen.fill(p);
                digest = digest * 31 + flow_key(p);
            }
            warm_[std::size_t(w)] = digest;
        });
    for (auto &t : threads)
        t.join();
}

void Router::worker(int id)
{
    const auto self = std::size_t(id);
    Generator gen(std::uint32_t(id) + std::uint32_t(warm_[(self + 1) % kWorkers] & 7));
    Port &port = *fabric_.ports[self];
    auto &chain = chains_[self];
    Backoff &backoff = *backoffs_[self];
    std::uint32_t revision = 0;
    Packet p;

    LengthHistogram::attach(id);
    gate_.arrive();
    for (long i = 0; i < rounds_ && !supervision_.drain.load(std::memory_order_relaxed); i++) {
        gen.fill(p);
        port.received(p);
        for (auto &e : chain)
            if (!e->run(p, fabric_))
                break;
        counters_[self].count(p.dropped);
        LengthHistogram::add(p.length);
        times_[self].busy += p.length;
        if ((i & 3) == 0) {
            std::uint32_t m;
            if (mailboxes_[self]->take(m))
                revision ^= m;
            else
                times_[self].idle++;
        }
        if ((i & 1) == 0) {
            backoff.step = backoff.step * 5 + 1;
            if ((backoff.step & 255) == 0)
                backoff.spins++;
        }
        if ((i & 63) == 63)
            std::this_thread::yield();
    }
    if (revision == 0xffffffffu)
        Log::instance().write(Log::Level::Info, "worker " + std::to_string(id) + " saw all messages");
}

void Router::control()
{
    auto reported = std::chrono::steady_clock::now();
    std::uint32_t x = 7;

    gate_.arrive();
    for (long i = 0; i < rounds_; i++) {
        for (int k = 0; k < 40; k++)
            x = mix(x + std::uint32_t(k));
        supervision_.ticks++;
        if ((x & 1) == 0)
            Meter::refill(1);
        if ((i & 3) == 1)
            fabric_.fib.touch(x);
        if ((i & 3) == 2)
            port_state[8 + (x & 7)].store(std::uint8_t(x >> 9 & 1), std::memory_order_relaxed);
        if ((i & 1) == 0)
            fabric_.nat.set_hint(x & 511);
        if ((i & 3) == 3)
            settings.revision.fetch_add(1, std::memory_order_relaxed);
        if ((i & 3) == 0)
            for (auto &m : mailboxes_)
                m->post(x);
        if ((i & 1023) == 1023) {
            auto now = std::chrono::steady_clock::now();
            if (now - reported > std::chrono::seconds(1)) {
                supervision_.late++;
                reported = now;
                Log::instance().write(Log::Level::Info, "round " + std::to_string(i));
            }
        }
        if ((i & 63) == 63)
            std::this_thread::yield();
    }
}

void Router::exporter()
{
    gate_.arrive();
    for (long i = 0; i < rounds_; i++) {
        Flow *f = fabric_.flows.sample(unsigned(i));
        if (!f) {
            std::this_thread::yield();
            continue;
        }
        std::uint32_t d = export_.digest;
        for (int k = 0; k < 30; k++)
            d = mix(d ^ f->key) + std::uint32_t(k);
        export_.digest = d;
        export_.records++;
        if (i % settings.export_every == 0) {
            export_.packets += f->packets.load(std::memory_order_relaxed);
            f->exported.fetch_add(1, std::memory_order_relaxed);
        }
        if ((i & 7) == 0 && fabric_.nat.hint() > 511)
            export_.digest++;
        if ((i & 63) == 63)
            std::this_thread::yield();
    }
}

void Router::run()
{
    warm_up();
    for (int w = 0; w < kWorkers; w++)
        threads_.emplace_back(&Router::worker, this, w);
    threads_.emplace_back(&Router::control, this);
    threads_.emplace_back(&Router::exporter, this);
    for (auto &t : threads_)
        t.join();
}

void Router::report() const
{
    for (std::size_t w = 0; w < kWorkers; w++) {
        std::cout << "worker " << w << ": packets " << counters_[w].packets << ", dropped " << counters_[w].dropped
                  << ", busy " << times_[w].busy << ", idle " << times_[w].idle << ", step " << backoffs_[w]->step << ", hits";
        for (const auto &e : chains_[w])
            std::cout << " " << e->hits();
        std::cout << ", port " << fabric_.ports[w]->rx_packets() << "/" << fabric_.ports[w]->rx_bytes() << "/"
                  << fabric_.ports[w]->errors() << "\n";
    }
    std::cout << "flows " << fabric_.flows.size() << ", leases " << fabric_.leases.renewals() << ", lengths "
              << LengthHistogram::total() << ", tokens " << Meter::tokens() << ", ticks " << supervision_.ticks << ", records "
              << export_.records << ", digest " << export_.digest << ", routes " << fabric_.fib.version() << "\n";
}
