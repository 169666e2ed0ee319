#pragma once

#include "types.hpp"

#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace crossline {

inline constexpr std::size_t kLevels = 16;
inline constexpr std::size_t kSymbols = 9;
inline constexpr std::size_t kAccounts = 12;

// What the market data thread wants to know about an instrument.
struct TopOfBook {
    Price bid{};
    Price ask{};
    std::uint32_t version{};
};

class Instrument {
public:
    Instrument(SymbolId id, Price reference) : symbol_{id}, tick_{1}, reference_{reference} {}

    // The shard that owns the instrument:
    template <typename OnFill>
    void submit(const Order& o, OnFill&& onFill);
    void cancelLevel(Price p) noexcept;

    // Everybody:
    SymbolId symbol() const noexcept { return symbol_; }
    bool accepts(Price p) const noexcept { return p > reference_ - band_ && p < reference_ + band_; }
    Price tick() const noexcept { return tick_; }
    Price reference() const noexcept { return reference_; }
    Price lastPrice() const noexcept { return lastPrice_.load(std::memory_order_relaxed); }
    std::uint32_t version() const noexcept { return version_.load(std::memory_order_acquire); }
    TopOfBook top() const noexcept;

    // Market data only:
    void published() noexcept { ++publishCount_; }
    std::uint32_t publishCount() const noexcept { return publishCount_; }
    std::uint64_t volume() const noexcept { return volume_; }

private:
    std::size_t level(Price p) const noexcept { return static_cast<std::size_t>(p - reference_ + band_) % kLevels; }

    const SymbolId symbol_;
    const Price tick_;
    Price reference_;
    Price band_{8};
    std::atomic<Price> lastPrice_{0};
    std::atomic<std::uint32_t> version_{0};
    std::uint32_t publishCount_{0};
    std::uint64_t volume_{0};
    std::array<Qty, kLevels> bids_{};
    std::array<Qty, kLevels> asks_{};
};

template <typename OnFill>
void Instrument::submit(const Order& o, OnFill&& onFill)
{
    Qty left = o.qty;
    auto& other = o.side == Side::Buy ? asks_ : bids_;
    auto& mine = o.side == Side::Buy ? bids_ : asks_;
    const auto at = level(o.price);
    for (std::size_t i = 0; i <= at && left > 0; ++i) {
        const auto lv = o.side == Side::Buy ? i : kLevels - 1 - i;
        if (!other[lv])
            continue;
        const Qty q = std::min(left, other[lv]);
        other[lv] -= q;
        left -= q;
        const Price at2 = reference_ - band_ + static_cast<Price>(lv);
        lastPrice_.store(at2, std::memory_order_relaxed);
        volume_ += static_cast<std::uint64_t>(q);
        onFill(at2, q);
    }
    if (left > 0 && o.kind == OrderKind::Limit)
        mine[at] += left;
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// Accounts are touched by all shards and the risk thread, each under its own lock.
class Account {
public:
    explicit Account(std::uint32_t no) : number_{no} {}
    bool reserve(std::int64_t value) noexcept
    {
        std::lock_guard hold{mutex_};
        if (exposure_ + value > limit_)
            return false;
        exposure_ += value;
        return true;
    }
    void settle(std::int64_t value) noexcept
    {
        std::lock_guard hold{mutex_};
        exposure_ -= std::min(value, exposure_);
    }
    std::uint32_t number() const noexcept { return number_; }
    std::uint8_t tier() const noexcept { return tier_; }
    void score(std::uint32_t s) noexcept { riskScore_ = s; }
    std::uint32_t score() const noexcept { return riskScore_; }

private:
    std::mutex mutex_;
    std::int64_t exposure_{0};
    std::int64_t limit_{1'000'000'000};
    std::uint32_t number_;
    std::uint32_t riskScore_{0};
    std::uint8_t tier_{1};
};

class Market {
public:
    explicit Market(std::size_t shards);
    Instrument& instrument(SymbolId s) noexcept { return *instruments_[s]; }
    Account& account(std::uint32_t n) noexcept { return *accounts_[n]; }
    std::size_t shardOf(SymbolId s) const noexcept { return s % shards_; }
    std::span<const std::unique_ptr<Instrument>> instruments() const noexcept { return instruments_; }
    std::span<const std::unique_ptr<Account>> accounts() const noexcept { return accounts_; }

private:
    std::size_t shards_;
    std::vector<std::unique_ptr<Instrument>> instruments_;
    std::vector<std::unique_ptr<Account>> accounts_;
};

}  // namespace crossline
