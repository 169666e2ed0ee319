#pragma once

#include "book.hpp"
#include "metrics.hpp"
#include "ring.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <thread>

namespace crossline {

using Inbox = SpscRing<Order, 32>;
using Outbox = SpscRing<Fill, 64>;

class Shard {
public:
    Shard(std::size_t index, std::size_t gateways, Market& market);
    void run(std::stop_token st);
    Inbox& inbox(std::size_t gateway) noexcept { return *inboxes_[gateway]; }
    Outbox& fills() noexcept { return fills_; }
    void setThrottle(std::uint32_t t) noexcept { throttle_.store(t, std::memory_order_relaxed); }
    std::uint32_t backlog() const noexcept { return backlog_.load(std::memory_order_relaxed); }
    std::uint32_t throttle() const noexcept { return throttle_.load(std::memory_order_relaxed); }
    std::uint64_t sequence() const noexcept { return sequence_; }
    std::uint32_t stalls() const noexcept { return stalls_; }

private:
    void execute(const Order& o);

    Market& market_;
    const std::size_t index_;
    std::vector<std::unique_ptr<Inbox>> inboxes_;
    std::atomic<std::uint32_t> throttle_{16};
    std::atomic<std::uint32_t> backlog_{0};
    std::uint64_t sequence_{0};
    std::uint32_t stalls_{0};
    Outbox fills_;
};

class Gateway {
public:
    Gateway(std::size_t index, Market& market, std::vector<std::unique_ptr<Shard>>& shards);
    void run(std::size_t rounds);
    std::uint64_t sent() const noexcept { return sent_; }
    std::uint64_t held() const noexcept { return held_; }

private:
    Order next() noexcept;

    Market& market_;
    std::vector<std::unique_ptr<Shard>>& shards_;
    const std::uint32_t index_;
    Xorshift random_;
    OrderId nextId_;
    std::uint64_t sent_{0};
    std::uint64_t held_{0};
};

// Answers to questions of the gateways; the work runs on one thread.
class RiskDesk {
public:
    explicit RiskDesk(Market& market) : market_{market} {}
    std::future<std::uint32_t> ask(std::uint32_t account);
    void run(std::stop_token st);
    std::uint32_t answered() const noexcept { return answered_; }

private:
    Market& market_;
    std::mutex queueMutex_;
    std::condition_variable_any queueReady_;
    std::deque<std::packaged_task<std::uint32_t()>> queue_;
    std::uint32_t answered_{0};
};

// Subscribers by a functor; all called on the market data thread.
class Publisher {
public:
    using Listener = std::function<void(const Instrument&, const TopOfBook&)>;
    Publisher(Market& market, std::vector<std::unique_ptr<Shard>>& shards) : market_{market}, shards_{shards} {}
    void subscribe(Listener l) { listeners_.push_back(std::move(l)); }
    void run(std::stop_token st);
    std::uint64_t fillsSeen() const noexcept { return fillsSeen_; }

private:
    Market& market_;
    std::vector<std::unique_ptr<Shard>>& shards_;
    std::vector<Listener> listeners_;
    std::uint64_t fillsSeen_{0};
};

class Exchange {
public:
    explicit Exchange(const Settings& s);
    void run();
    void report() const;

private:
    Settings settings_;
    Market market_;
    std::vector<std::unique_ptr<Shard>> shards_;
    std::vector<std::unique_ptr<Gateway>> gateways_;
    std::unique_ptr<RiskDesk> desk_;
    Publisher publisher_;
};

// Set up by the exchange, for those who are deep below it.
extern RiskDesk* riskDesk;

std::uint32_t lostAndQuiet() noexcept;

}  // namespace crossline
