// What a packet goes through: a chain of virtual elements per worker.
#pragma once

#include "tables.h"
#include "tables.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

class Port {
public:
    Port(int number, std::uint32_t mtu) : mtu_(mtu), number_(number) {}
    virtual ~Port() = default;
    virtual bool accepts(const Packet &p) const = 0;
    void received(const Packet &p)
    {
        rx_packets_++;
        rx_bytes_ += p.length;
    }
    void malformed() { errors_++; }
    std::uint64_t rx_packets() const { return rx_packets_; }
    std::uint64_t rx_bytes() const { return rx_bytes_; }
    std::uint64_t errors() const { return errors_; }

protected:
    std::uint32_t mtu_;
    int number_;

private:
    std::uint64_t rx_packets_ = 0;              // by the worker that has this port
    std::uint64_t rx_bytes_ = 0;
    std::uint64_t errors_ = 0;
};

class WirePort final : public Port {
public:
    using Port::Port;
    bool accepts(const Packet &p) const override { return p.length <= mtu_; }
};

class TunnelPort final : public Port {
public:
    using Port::Port;
    bool accepts(const Packet &p) const override { return std::uint32_t(p.length) + 24 <= mtu_ && number_ >= 0; }
};

// Shared by all chains.
struct Fabric {
    Fib fib;
    FlowTable flows{24};
    NatPool nat;
    LeaseBook leases;
    std::vector<std::unique_ptr<Port>> ports;
};

class Element {
public:
    virtual ~Element() = default;
    virtual bool run(Packet &p, Fabric &f) = 0;
    std::uint32_t hits() const { return hits_; }

protected:
    std::uint32_t hits_ = 0;
    int worker_ = 0;
};

std::unique_ptr<Element> make_check(int worker);
std::unique_ptr<Element> make_meter(int worker);
std::unique_ptr<Element> make_flow(int worker);
std::unique_ptr<Element> make_nat(int worker);
std::unique_ptr<Element> make_route(int worker);

// All meters draw from one bucket; the control thread fills it.
class Meter : public Element {
public:
    explicit Meter(int worker) { worker_ = worker; }
    bool run(Packet &p, Fabric &f) override;
    static void refill(long n) { tokens_.fetch_add(n, std::memory_order_relaxed); }
    static long tokens() { return tokens_.load(); }

private:
    static std::atomic<long> tokens_;
    static long floor_;
    static long cost_;
};

// Lengths of packets, counted by each thread in its own cells.
class LengthHistogram {
public:
    static void attach(int slot) { slot_ = slot; }
    static void add(unsigned length);
    static std::uint64_t total();

private:
    static thread_local int slot_;
    static std::uint32_t cells_[kWorkers][4];
};

// The state of ports, one byte each; the control thread sets them in turn.
extern std::array<std::atomic<std::uint8_t>, 16> port_state;
