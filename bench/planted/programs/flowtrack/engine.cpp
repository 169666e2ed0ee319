#include "engine.hpp"

#include <chrono>
#include <cstdio>

namespace ft {

Engine::Engine(Options o)
    : opt_(std::move(o)),
      table_(opt_.flows),
      limiter_(std::make_unique<Limiter>(700, 200000)),
      stats_(opt_.workers),
      ports_(opt_.workers),
      errors_(std::make_unique<ErrorStats>()),
      results_(opt_.workers) {
    for (unsigned i = 0; i < opt_.workers; ++i) channels_.push_back(std::make_unique<Channel>(512));
    table_.pin(4);
}

// one per port: makes packets and hands them to the worker of that port
void Engine::receive(unsigned port) {
    std::uint32_t rng = 12345u + port * 999u;
    for (long i = 0; i < opt_.packets; ++i) {
        rng = rng * 1664525u + 1013904223u;
        Packet p{};
        p.src = (rng >> 12) & 0xff;
        p.dst = 7;
        p.sport = static_cast<std::uint16_t>((rng >> 20) & 3);
        p.dport = 443;
        p.length = static_cast<std::uint16_t>(64 + (rng >> 8) % 1400);
        p.dir = port ? Direction::Reply : Direction::Original;
        p.flags = static_cast<std::uint8_t>(rng >> 24);
        if (p.length > mtu_) {
            errors_->malformed.fetch_add(1);
            continue;
        }
        while (!channels_[port]->push(p)) std::this_thread::yield();
        ports_[port].packets.fetch_add(1, std::memory_order_relaxed);
        ports_[port].bytes.fetch_add(p.length, std::memory_order_relaxed);
        received_.fetch_add(1, std::memory_order_relaxed);
    }
    receiving_.fetch_sub(1);
}

std::uint32_t Engine::inspect(const Packet& p, std::vector<unsigned char>& scratch) const {
    std::uint32_t sum = p.src * 31 + p.sport;
    std::size_t n = p.length / 32u;
    if (n > scratch.size()) n = scratch.size();
    for (std::size_t i = 0; i < n; ++i) {
        scratch[i] = static_cast<unsigned char>(sum >> (i & 7));
        sum = sum * 33 + scratch[i];
    }
    return sum;
}

void Engine::work(unsigned id) {
    std::vector<unsigned char> scratch(1024);
    Packet p;
    std::uint32_t digest = 0;
    while (true) {
        bool last = receiving_.load() == 0;
        if (!channels_[id]->pop(p)) {
            if (last) break;
            std::this_thread::yield();
            continue;
        }
        if (!limiter_->admit(p.src, p.length)) {
            ++stats_[id].limited;
            continue;
        }
        Flow* f = nullptr;
        std::shared_ptr<Flow> held;
        if (p.src < 192) {
            f = table_.pinned(p.src);
        } else {
            held = table_.lookup(FlowKey{p.src, p.dst, p.sport, p.dport});
            f = held.get();
        }
        if (f) f->account(p);
        else errors_->no_memory.fetch_add(1);
        digest ^= inspect(p, scratch) + static_cast<std::uint32_t>(coarse_clock.load(std::memory_order_relaxed));
        ++stats_[id].packets;
        stats_[id].bytes += p.length;
    }
    results_[id] = digest;
}

void Engine::age() {
    unsigned pos = 0;
    while (!stop_.load(std::memory_order_relaxed)) {
        coarse_clock.fetch_add(1, std::memory_order_relaxed);
        table_.age();
        limiter_->refill(pos, 2);
        pos = (pos + 2) % 8;
        if (pos == 0) std::this_thread::yield();
    }
}

void Engine::snapshot() {
    while (!stop_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(250));
        ++errors_->snapshots;
    }
}

void Engine::run() {
    receiving_ = opt_.workers;
    std::vector<std::thread> rx, tx;
    for (unsigned i = 0; i < opt_.workers; ++i) rx.emplace_back(&Engine::receive, this, i);
    for (unsigned i = 0; i < opt_.workers; ++i) tx.emplace_back([this, i] { work(i); });
    std::thread ager(&Engine::age, this);
    std::thread snap(&Engine::snapshot, this);
    for (auto& t : rx) t.join();
    for (auto& t : tx) t.join();
    stop_ = true;
    ager.join();
    snap.join();
}

void Engine::report() const {
    std::uint64_t packets = 0, limited = 0, digest = 0;
    for (const auto& s : stats_) {
        packets += s.packets;
        limited += s.limited;
    }
    for (auto r : results_) digest ^= r;
    std::printf("%s: received %lu handled %lu limited %lu flows %zu generation %lu malformed %lu digest %lx\n",
                opt_.name.c_str(), (unsigned long)received_.load(), (unsigned long)packets, (unsigned long)limited,
                table_.size(), (unsigned long)table_.generation(), (unsigned long)errors_->malformed.load(),
                (unsigned long)digest);
}

}  // namespace ft
