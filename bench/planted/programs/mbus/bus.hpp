// mbus: an in-process message bus with topics, mailboxes and handlers
#pragma once
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace mbus {

constexpr std::size_t kLine = 64;
constexpr unsigned kTopics = 8;
constexpr unsigned kMaxThreads = 8;

struct alignas(kLine) Msg {
    std::uint64_t id = 0;
    std::uint32_t topic = 0;
    std::uint32_t len = 0;
    char body[40] = {};
};

// tunables, shared by everybody through a shared_ptr; replaced at reload
struct Tunables {
    std::uint32_t max_len = 40;
    std::uint32_t min_len = 1;
    std::uint32_t seed = 17;
    bool checksum = true;
};

// single producer, single consumer
template <class T, std::size_t N>
class Spsc {
public:
    bool push(const T &v) {
        std::size_t h = head_.load(std::memory_order_relaxed);
        if (h - tail_.load(std::memory_order_acquire) == N)
            return false;
        buf_[h % N] = v;
        head_.store(h + 1, std::memory_order_release);
        return true;
    }
    bool pop(T &v) {
        std::size_t t = tail_.load(std::memory_order_relaxed);
        if (t == head_.load(std::memory_order_acquire))
            return false;
        v = buf_[t % N];
        tail_.store(t + 1, std::memory_order_release);
        return true;
    }

private:
    std::array<T, N> buf_;
    std::atomic<std::size_t> head_{0};
    std::atomic<std::size_t> tail_{0};
};

// a publisher's seat on the bus
class Session {
public:
    explicit Session(unsigned id) : id_(id) {}
    void sent(std::size_t n) {
        published_++;
        bytes_ += n;
    }
    unsigned id() const { return id_; }
    std::uint64_t published() const { return published_; }
    std::uint64_t bytes() const { return bytes_; }

private:
    unsigned id_;
    std::uint64_t published_ = 0;
    std::uint64_t bytes_ = 0;
};

class Handler {
public:
    virtual ~Handler() = default;
    virtual void on(const Msg &m) = 0;
    virtual std::uint64_t value() const = 0;
};

class Audit final : public Handler {
public:
    void on(const Msg &m) override {
        seen_++;
        if (m.id > newest_)
            newest_ = m.id;
    }
    std::uint64_t value() const override { return seen_; }

private:
    std::uint64_t seen_ = 0;
    std::uint64_t newest_ = 0;
};

class Meter final : public Handler {
public:
    void on(const Msg &m) override {
        for (std::uint32_t i = 0; i < m.len; i++)
            acc_ = acc_ * 31 + static_cast<unsigned char>(m.body[i]);
        total_ += m.len;
        digest_ ^= acc_;
        acc_ = 0;
    }
    std::uint64_t value() const override { return digest_; }

private:
    std::uint64_t total_ = 0;
    std::uint64_t digest_ = 0;
    std::uint64_t acc_ = 0;
};

// what may be looked up while publishing
class TopicTable {
public:
    TopicTable();
    void subscribe(unsigned topic, unsigned mailbox);
    unsigned fanout(unsigned topic);
    bool tracing() const { return tracing_; }
    std::uint32_t trace_limit() const { return trace_limit_; }
    std::uint64_t lookups() const { return lookups_; }

private:
    std::mutex mu_;
    std::uint32_t trace_limit_ = 0;
    bool tracing_ = false;
    std::uint64_t lookups_ = 0;
    std::array<std::vector<unsigned>, kTopics> routes_;
};

class Mailbox {
public:
    void deliver(const Msg &m);
    bool take(Msg &m);
    void close();
    void ack() { acked_.fetch_add(1, std::memory_order_relaxed); }
    std::uint64_t acked() const { return acked_.load(); }
    std::size_t high() const { return high_; }

private:
    std::mutex m_;
    std::condition_variable cv_;
    std::deque<Msg> q_;
    std::size_t high_ = 0;
    bool closed_ = false;
    std::atomic<std::uint64_t> acked_{0};
};

struct alignas(kLine) Lane {
    std::uint64_t routed = 0;
    std::uint64_t stalls = 0;
};

// message numbers, and the dispatcher's laps
struct Sequence {
    std::atomic<std::uint64_t> next{1};
    std::uint64_t rounds = 0;
};

class Bus {
public:
    using Callback = std::function<void(const Msg &)>;
    explicit Bus(unsigned publishers, unsigned mailboxes);
    void on_message(unsigned mailbox, Callback cb);
    void attach(unsigned mailbox, Handler *h);
    bool publish(Session &s, unsigned topic, const char *text, std::size_t n);
    void dispatch();
    void consume(unsigned mailbox);
    void producers_done() { open_.store(false); }
    void reload(std::shared_ptr<const Tunables> t) { tun_ = std::move(t); }
    void report(std::FILE *f) const;

    Audit &audit() { return audit_; }
    Meter &meter() { return meter_; }
    TopicTable &topics() { return topics_; }

    alignas(kLine) static inline Sequence seq_;

private:
    unsigned slot();
    std::vector<std::unique_ptr<Spsc<Msg, 64>>> inbound_;
    std::vector<std::unique_ptr<Mailbox>> boxes_;
    std::vector<std::vector<Callback>> callbacks_;
    std::vector<std::vector<Handler *>> handlers_;
    std::unique_ptr<std::atomic<std::uint32_t>[]> per_topic_;
    std::shared_ptr<const Tunables> tun_;
    std::array<Lane, 4> lanes_;
    std::uint64_t rejected_ = 0;
    std::uint64_t oversize_ = 0;
    alignas(kLine) TopicTable topics_;
    alignas(kLine) Audit audit_;
    Meter meter_;
    alignas(kLine) std::atomic<bool> open_{true};
};

} // namespace mbus
