#include "elements.h"

#include "settings.h"

std::atomic<long> Meter::tokens_{1 << 20};
long Meter::floor_ = -(1L << 40);
long Meter::cost_ = 1;

thread_local int LengthHistogram::slot_ = 0;
std::uint32_t LengthHistogram::cells_[kWorkers][4];

alignas(kLine) std::array<std::atomic<std::uint8_t>, 16> port_state;

bool Meter::run(Packet &p, Fabric &)
{
    hits_++;
    if (p.proto == 17 && (p.src & 3) == 0)
        if (tokens_.fetch_sub(cost_, std::memory_order_relaxed) < floor_) {
            p.dropped = true;
            return false;
        }
    return true;
}

void LengthHistogram::add(unsigned length)
{
    cells_[slot_][length < 128 ? 0 : length < 512 ? 1 : length < 1024 ? 2 : 3]++;
}

std::uint64_t LengthHistogram::total()
{
    std::uint64_t n = 0;
    for (const auto &row : cells_)
        for (std::uint32_t c : row)
            n += c;
    return n;
}

namespace {

class Check : public Element {
public:
    explicit Check(int worker) { worker_ = worker; }
    bool run(Packet &p, Fabric &f) override
    {
        hits_++;
        if (payload_sum(p) != p.sum) {
            f.ports[std::size_t(worker_)]->malformed();
            Log::instance().write(Log::Level::Warning, "bad sum from port " + std::to_string(worker_));
            p.dropped = true;
            return false;
        }
        if (p.ttl < settings.min_ttl || p.length > settings.mtu) {
            p.dropped = true;
            return false;
        }
        p.ttl--;
        return true;
    }
};

class FlowElement : public Element {
public:
    explicit FlowElement(int worker) { worker_ = worker; }
    bool run(Packet &p, Fabric &f) override
    {
        hits_++;
        Flow *flow = f.flows.touch(p, worker_);
        if ((hits_ & (settings.lease_every - 1)) == 0)
            f.leases.renew(flow->key, hits_);
        return true;
    }
};

class Nat : public Element {
public:
    explicit Nat(int worker) { worker_ = worker; }
    bool run(Packet &p, Fabric &f) override
    {
        hits_++;
        if (!settings.nat || p.dport != 443 || (p.sport & 3))
            return true;
        std::uint16_t port = f.nat.take(p.src);
        p.sport = port;
        f.nat.give(port);
        return true;
    }
};

class RouteElement : public Element {
public:
    explicit RouteElement(int worker) { worker_ = worker; }
    bool run(Packet &p, Fabric &f) override
    {
        hits_++;
        p.out = f.fib.lookup(p.dst);
        if (p.out < 0) {
            std::shared_ptr<const Policy> policy = f.fib.policy();
            if (p.dst & policy->drop_mask & 1u) {
                p.dropped = true;
                return false;
            }
            p.out = int(policy->default_port);
        }
        if (port_state[std::size_t(p.out)].load(std::memory_order_relaxed) == 255 || !f.ports[std::size_t(p.out)]->accepts(p)) {
            p.dropped = true;
            return false;
        }
        return true;
    }
};

} // namespace

std::unique_ptr<Element> make_check(int worker) { return std::make_unique<Check>(worker); }
std::unique_ptr<Element> make_meter(int worker) { return std::make_unique<Meter>(worker); }
std::unique_ptr<Element> make_flow(int worker) { return std::make_unique<FlowElement>(worker); }
std::unique_ptr<Element> make_nat(int worker) { return std::make_unique<Nat>(worker); }
std::unique_ptr<Element> make_route(int worker) { return std::make_unique<RouteElement>(worker); }
