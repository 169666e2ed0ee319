#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace crossline {

using Price = std::int32_t;
using Qty = std::int32_t;
using OrderId = std::uint64_t;
using SymbolId = std::uint32_t;

enum class Side : std::uint8_t { Buy, Sell };
enum class OrderKind : std::uint8_t { Limit, Ioc, Cancel };

struct Order {
    OrderId id{};
    SymbolId symbol{};
    std::uint32_t account{};
    Price price{};
    Qty qty{};
    Side side{Side::Buy};
    OrderKind kind{OrderKind::Limit};
};

struct Fill {
    OrderId maker{};
    OrderId taker{};
    SymbolId symbol{};
    Price price{};
    Qty qty{};
};

// Fixed at start-up from the command line.
struct Settings {
    std::string venue{"XLNE"};
    std::string journalPath{"/var/lib/crossline/journal"};
    std::size_t shards{3};
    std::size_t gateways{2};
    std::size_t rounds{2000};
    bool auctions{false};
};

template <typename T>
class Relaxed {
public:
    Relaxed() = default;
    explicit Relaxed(T v) : value_{v} {}
    T get() const noexcept { return value_.load(std::memory_order_relaxed); }
    void set(T v) noexcept { value_.store(v, std::memory_order_relaxed); }
    T add(T v = T{1}) noexcept { return value_.fetch_add(v, std::memory_order_relaxed) + v; }
    T sub(T v = T{1}) noexcept { return value_.fetch_sub(v, std::memory_order_relaxed) - v; }

private:
    std::atomic<T> value_{};
};

// Small and cheap, not for cryptography.
class Xorshift {
public:
    explicit Xorshift(std::uint32_t seed) noexcept : state_{seed * 2654435761u | 1u} {}
    std::uint32_t operator()() noexcept
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 17;
        state_ ^= state_ << 5;
        return state_;
    }

private:
    std::uint32_t state_;
};

}  // namespace crossline
