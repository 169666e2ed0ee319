#include "engine.hpp"

#include <cstdio>

namespace crossline {

RiskDesk* riskDesk = nullptr;

namespace {
constexpr std::uint32_t kAskEvery = 64;
std::atomic<std::uint32_t> fillNumber{0};
std::atomic<std::uint32_t> lastTaker{0};
std::atomic<std::uint32_t> tradeBursts{0};
std::uint32_t feeBasis = 5;
std::uint32_t lostFills = 0;
std::array<std::uint16_t, 4> shardState{};
std::uint32_t quietShards = 0;
std::uint64_t gatewayDigest[4];
}  // namespace

Shard::Shard(std::size_t index, std::size_t gateways, Market& market) : market_{market}, index_{index}
{
    for (std::size_t g = 0; g < gateways; ++g)
        inboxes_.push_back(std::make_unique<Inbox>());
}

void Shard::execute(const Order& o)
{
    auto& ins = market_.instrument(o.symbol);
    auto& acc = market_.account(o.account);
    const auto me = threadIndex();
    ++sequence_;
    if (o.kind == OrderKind::Cancel) {
        ins.cancelLevel(o.price);
        openOrders.sub();
        return;
    }
    const std::int64_t value = static_cast<std::int64_t>(o.price) * o.qty;
    if (!acc.reserve(value)) {
        Tally<RejectedTag>::bump(me);
        return;
    }
    openOrders.add();
    Tally<AcceptedTag>::bump(me);
    std::uint32_t fee = 0;
    ins.submit(o, [&](Price p, Qty q) {
        fee += static_cast<std::uint32_t>(p * q) * feeBasis / 1000;
        const auto n = fillNumber.fetch_add(1, std::memory_order_relaxed);
        lastTaker.store(o.account, std::memory_order_relaxed);
        if (!fills_.push(Fill{n, o.id, o.symbol, p, q}))
            ++lostFills;
        Tally<FilledTag>::bump(me, static_cast<std::uint32_t>(q));
    });
    acc.settle(value - fee);
}

void Shard::run(std::stop_token st)
{
    const auto me = static_cast<std::uint32_t>(index_);
    bindThread(me);
    std::uint32_t quiet = 0;
    for (;;) {
        std::uint32_t did = 0;
        shardState[index_] = 1;
        const auto most = throttle_.load(std::memory_order_relaxed);
        for (auto& in : inboxes_) {
            Order o;
            while (did < most && in->pop(o)) {
                execute(o);
                ++did;
            }
        }
        backlog_.store(did, std::memory_order_relaxed);
        shardState[index_] = 0;
        ++busy[me].loops;
        if (did) {
            busy[me].useful += did;
            quiet = 0;
            if (did == most)
                tradeBursts.fetch_add(1, std::memory_order_relaxed);
        } else {
            if (st.stop_requested())
                break;
            if (++quiet > 2)
                std::this_thread::yield();
        }
        while (halted.load(std::memory_order_acquire)) {
            ++stalls_;
            std::this_thread::yield();
        }
    }
}

Gateway::Gateway(std::size_t index, Market& market, std::vector<std::unique_ptr<Shard>>& shards)
    : market_{market}, shards_{shards}, index_{static_cast<std::uint32_t>(index)}, random_{static_cast<std::uint32_t>(index) + 3}, nextId_{index << 32}
{
}

Order Gateway::next() noexcept
{
    const auto dice = random_();
    Order o;
    o.id = nextId_++;
    o.symbol = dice % kSymbols;
    o.account = (dice >> 4) % kAccounts;
    const auto& ins = market_.instrument(o.symbol);
    o.price = ins.reference() + static_cast<Price>((dice >> 8) % 12) * ins.tick() - 6;
    if (const auto last = ins.lastPrice(); last && (dice & 0x1000))
        o.price = last;
    o.qty = 1 + static_cast<Qty>((dice >> 16) % 9);
    o.side = (dice >> 20) & 1 ? Side::Buy : Side::Sell;
    o.kind = (dice >> 24) % 8 == 0 ? OrderKind::Cancel : (dice >> 24) % 8 == 1 ? OrderKind::Ioc : OrderKind::Limit;
    return o;
}

void Gateway::run(std::size_t rounds)
{
    const auto slot = 4 + index_;
    bindThread(slot);
    for (std::size_t r = 0; r < rounds; ++r) {
        const auto o = next();
        if (marketPhase.get() != 1 || !market_.instrument(o.symbol).accepts(o.price)) {
            Tally<RejectedTag>::bump(slot);
            continue;
        }
        gatewayDigest[index_] = gatewayDigest[index_] * 31 + static_cast<std::uint64_t>(o.price);
        auto& in = shards_[market_.shardOf(o.symbol)]->inbox(index_);
        while (!in.push(o)) {
            ++held_;
            std::this_thread::yield();
        }
        ++sent_;
        ++busy[slot].loops;
        if (r % kAskEvery == index_) {
            auto f = riskDesk->ask(o.account);
            latencyLog.note(slot, f.get());
        }
    }
}

std::future<std::uint32_t> RiskDesk::ask(std::uint32_t account)
{
    std::packaged_task<std::uint32_t()> task{[this, account] {
        auto& a = market_.account(account);
        const auto s = (a.score() * 3 + a.number() + a.tier()) / 4;
        a.score(s + 1);
        return s;
    }};
    auto f = task.get_future();
    {
        std::lock_guard hold{queueMutex_};
        queue_.push_back(std::move(task));
    }
    queueReady_.notify_one();
    return f;
}

void RiskDesk::run(std::stop_token st)
{
    std::unique_lock hold{queueMutex_};
    while (queueReady_.wait(hold, st, [this] { return !queue_.empty(); })) {
        auto t = std::move(queue_.front());
        queue_.pop_front();
        hold.unlock();
        t();
        hold.lock();
        ++answered_;
    }
}

void Publisher::run(std::stop_token st)
{
    std::array<std::uint32_t, kSymbols> seen{};
    while (!st.stop_requested()) {
        std::size_t did = 0;
        for (std::size_t i = 0; i < shards_.size(); ++i) {
            const auto& sh = shards_[i];
            if (shardState[i] == 0)
                ++quietShards;
            Fill f;
            while (sh->fills().pop(f)) {
                ++fillsSeen_;
                ++did;
            }
            if (sh->backlog() >= sh->throttle())
                sh->setThrottle(sh->throttle() < 24 ? sh->throttle() + 1 : 12);
        }
        for (auto& ins : market_.instruments()) {
            if (ins->version() == seen[ins->symbol()])
                continue;
            const auto t = ins->top();
            seen[ins->symbol()] = t.version;
            for (auto& l : listeners_)
                l(*ins, t);
            ins->published();
        }
        sessionClock.fetch_add(1, std::memory_order_relaxed);
        if (!did)
            std::this_thread::yield();
    }
}

std::uint32_t lostAndQuiet() noexcept { return lostFills + quietShards; }

}  // namespace crossline
