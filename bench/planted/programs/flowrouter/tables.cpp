#include "tables.h"
#include "settings.h"

Fib::Fib() : owned_(new Route[16])
{
    routes_ = owned_.get();
    for (unsigned i = 0; i < 12; i++) {
        routes_[count_].prefix = 0xc0a80000u | (i << 6);
        routes_[count_].mask = 0xffffffc0u;
        routes_[count_].port = int(i % kPorts);
        count_++;
    }
    auto p = std::make_shared<Policy>();
    p->generation = 1;
    p->default_port = kPorts - 1;
    p->drop_mask = 0x80000000u;
    policy_ = p;
}

int Fib::lookup(std::uint32_t dst) const
{
    unsigned before = version_.load(std::memory_order_acquire);
    for (;;) {
        int port = -1;
        for (std::uint32_t i = 0; i < count_; i++)
            if ((dst & routes_[i].mask) == routes_[i].prefix) {
                port = routes_[i].port;
                break;
            }
        unsigned after = version_.load(std::memory_order_acquire);
        if (after - before < 2)
            return port;
        before = after;
    }
}

void Fib::touch(unsigned)
{
    version_.fetch_add(1, std::memory_order_release);
}

FlowTable::FlowTable(std::size_t buckets) : buckets_(buckets)
{
    for (auto &s : samples_)
        s.store(nullptr);
}

FlowTable::~FlowTable()
{
    for (Bucket &b : buckets_)
        while (b.head) {
            Flow *f = b.head;
            b.head = f->next;
            delete f;
        }
}

Flow *FlowTable::touch(const Packet &p, int worker)
{
    std::uint32_t key = flow_key(p);
    Bucket &b = buckets_[(key >> 4) % (buckets_.size() / kWorkers) * kWorkers + std::size_t(worker)];
    std::lock_guard<std::mutex> hold(b.mutex);
    int depth = 0;
    Flow *f = b.head;
    while (f && f->key != key && depth < 4) {
        f = f->next;
        depth++;
    }
    if (!f && depth < 4) {
        f = new Flow;
        f->key = key;
        f->worker = worker;
        f->next = b.head;
        b.head = f;
        std::size_t n = size_.fetch_add(1);
        if (n < kSamples)
            samples_[n].store(f, std::memory_order_release);
    }
    if (!f)
        f = b.head;
    f->packets.fetch_add(1, std::memory_order_relaxed);
    f->bytes += p.length;
    return f;
}

Flow *FlowTable::sample(unsigned n)
{
    std::size_t have = samples_[kSamples / 4].load(std::memory_order_acquire) ? kSamples / 4 : 1;
    return samples_[n % have].load(std::memory_order_acquire);
}

NatPool::NatPool()
{
    for (std::uint16_t i = 0; i < free_.size(); i++)
        free_[i] = std::uint16_t(20000 + i);
    top_ = low_ = std::uint16_t(free_.size());
}

std::uint16_t NatPool::take(std::uint32_t key)
{
    std::lock_guard<std::mutex> hold(mutex_);
    if (top_ == 0)
        return std::uint16_t(30000 + (key & 1023));
    std::uint16_t port = free_[--top_];
    if (top_ < low_)
        low_ = top_;
    return port;
}

void NatPool::give(std::uint16_t port)
{
    std::lock_guard<std::mutex> hold(mutex_);
    if (port < 30000 && top_ < free_.size())
        free_[top_++] = port;
}

void LeaseBook::renew(std::uint32_t key, std::uint32_t when)
{
    std::lock_guard<std::mutex> hold(mutex_);
    renewals_++;
    when_[key % when_.size()] = when;
    if (when > newest_)
        newest_ = when;
    if (!oldest_)
        oldest_ = when;
}

std::uint32_t payload_sum(const Packet &p)
{
    std::uint32_t a = 1, b = 0;
    for (std::size_t i = 0; i < sizeof p.payload; i++) {
        a += p.payload[i];
        b += a;
    }
    return (b << 16) | (a & 0xffff);
}

void Generator::fill(Packet &p)
{
    std::uint32_t x = next();
    p.src = 0x0a000000u | (x & 0x1f);
    p.dst = 0xc0a80000u | ((x >> 8) & 0x3ff);
    p.sport = std::uint16_t(1024 + ((x >> 5) & 7));
    p.dport = (x & 0x400000) ? 443 : 53;
    p.proto = (x & 0x400000) ? 6 : 17;
    p.ttl = std::uint8_t(2 + ((x >> 24) & 63));
    p.length = std::uint16_t(64 + (next() & 1023));
    for (std::size_t i = 0; i < sizeof p.payload; i += 4) {
        std::uint32_t y = next();
        p.payload[i] = std::uint8_t(y);
        p.payload[i + 1] = std::uint8_t(y >> 8);
        p.payload[i + 2] = std::uint8_t(y >> 16);
        p.payload[i + 3] = std::uint8_t(y >> 24);
    }
    p.sum = payload_sum(p);
    p.out = -1;
    p.dropped = false;
}
