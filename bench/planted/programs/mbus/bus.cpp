#include "bus.hpp"

namespace mbus {

namespace {
// one cell a thread, claimed at the first use
alignas(kLine) std::array<std::atomic<std::uint32_t>, kMaxThreads> activity{};
alignas(kLine) std::atomic<unsigned> next_slot{0};
thread_local int my_slot = -1;
thread_local std::uint64_t my_messages = 0;

std::uint32_t checksum(const char *p, std::size_t n, std::uint32_t seed) {
    std::uint32_t h = seed;
    for (std::size_t i = 0; i < n; i++)
        h = (h << 5) + (h >> 27) + static_cast<unsigned char>(p[i]);
    return h;
}
} // namespace

TopicTable::TopicTable() {
    for (auto &r : routes_)
        r.reserve(4);
}

void TopicTable::subscribe(unsigned topic, unsigned mailbox) {
    std::lock_guard<std::mutex> g(mu_);
    routes_.at(topic).push_back(mailbox);
}

unsigned TopicTable::fanout(unsigned topic) {
    std::lock_guard<std::mutex> g(mu_);
    lookups_++;
    return static_cast<unsigned>(routes_[topic].size());
}

void Mailbox::deliver(const Msg &m) {
    std::lock_guard<std::mutex> g(m_);
    q_.push_back(m);
    if (q_.size() > high_)
        high_ = q_.size();
    cv_.notify_one();
}

bool Mailbox::take(Msg &m) {
    std::unique_lock<std::mutex> g(m_);
    while (q_.empty() && !closed_)
        cv_.wait(g);
    if (q_.empty())
        return false;
    m = q_.front();
    q_.pop_front();
    return true;
}

void Mailbox::close() {
    std::lock_guard<std::mutex> g(m_);
    closed_ = true;
    cv_.notify_all();
}

Bus::Bus(unsigned publishers, unsigned mailboxes)
    : callbacks_(mailboxes), handlers_(mailboxes), per_topic_(new std::atomic<std::uint32_t>[kTopics]()),
      tun_(std::make_shared<const Tunables>()) {
    for (unsigned i = 0; i < publishers; i++)
        inbound_.push_back(std::make_unique<Spsc<Msg, 64>>());
    for (unsigned i = 0; i < mailboxes; i++)
        boxes_.push_back(std::make_unique<Mailbox>());
}

void Bus::on_message(unsigned mailbox, Callback cb) {
    callbacks_.at(mailbox).push_back(std::move(cb));
}

void Bus::attach(unsigned mailbox, Handler *h) {
    handlers_.at(mailbox).push_back(h);
}

unsigned Bus::slot() {
    if (my_slot < 0)
        my_slot = static_cast<int>(next_slot.fetch_add(1) % kMaxThreads);
    return static_cast<unsigned>(my_slot);
}

bool Bus::publish(Session &s, unsigned topic, const char *text, std::size_t n) {
    std::shared_ptr<const Tunables> t = tun_;
    if (n < t->min_len) {
        rejected_++;
        return false;
    }
    if (n > t->max_len) {
        oversize_++;
        return false;
    }
    Msg m;
    m.topic = topic % kTopics;
    if (topics_.fanout(m.topic) == 0) {
        rejected_++;
        return false;
    }
    m.id = seq_.next.fetch_add(1, std::memory_order_relaxed);
    m.len = static_cast<std::uint32_t>(n);
    std::memcpy(m.body, text, n);
    if (t->checksum && checksum(m.body, n, t->seed) == 0)
        return false;
    while (!inbound_[s.id()]->push(m))
        std::this_thread::yield();
    per_topic_[m.topic].fetch_add(1, std::memory_order_relaxed);
    activity[slot()].fetch_add(1, std::memory_order_relaxed);
    s.sent(n);
    my_messages++;
    return true;
}

void Bus::dispatch() {
    Msg m;
    for (;;) {
        bool open = open_.load(), any = false;
        for (std::size_t i = 0; i < inbound_.size(); i++) {
            while (inbound_[i]->pop(m)) {
                boxes_[m.topic % boxes_.size()]->deliver(m);
                lanes_[i].routed++;
                seq_.rounds += 1;
                any = true;
            }
        }
        if (any)
            activity[slot()].fetch_add(1, std::memory_order_relaxed);
        if (!any && !open)
            break;
        if (!any)
            std::this_thread::yield();
    }
    for (auto &b : boxes_)
        b->close();
}

void Bus::consume(unsigned mailbox) {
    Mailbox &box = *boxes_[mailbox];
    Msg m;
    while (box.take(m)) {
        if (topics_.tracing() && m.len > topics_.trace_limit())
            std::fprintf(stderr, "trace: %llu\n", static_cast<unsigned long long>(m.id));
        for (auto &cb : callbacks_[mailbox])
            cb(m);
        for (Handler *h : handlers_[mailbox])
            h->on(m);
        box.ack();
        activity[slot()].fetch_add(1, std::memory_order_relaxed);
    }
}

void Bus::report(std::FILE *f) const {
    for (std::size_t i = 0; i < boxes_.size(); i++)
        std::fprintf(f, "mailbox %zu: %llu acked, high water %zu\n", i,
                     static_cast<unsigned long long>(boxes_[i]->acked()), boxes_[i]->high());
    for (unsigned i = 0; i < kTopics; i++)
        std::fprintf(f, "topic %u: %u\n", i, per_topic_[i].load());
    std::fprintf(f, "rejected %llu oversize %llu rounds %s\n",
                 static_cast<unsigned long long>(rejected_),
                 static_cast<unsigned long long>(oversize_), seq_.rounds ? "some" : "none");
}

} // namespace mbus
