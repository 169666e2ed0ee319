#include "pool.hpp"

namespace pool {

Pool::Pool(unsigned n) : n_(n), seats_(new Seat[n]) {
    for (unsigned i = 0; i < n; i++)
        seats_[i].q.reserve(64);
    for (unsigned i = 0; i < n; i++)
        threads_.emplace_back([this, i] { loop(i); });
}

Pool::~Pool() {
    {
        std::lock_guard<std::mutex> g(gate_);
        stop_ = true;
    }
    work_.notify_all();
    for (auto &t : threads_)
        t.join();
}

void Pool::submit(Job j) {
    Seat &s = seats_[next_++ % n_];
    pending_.fetch_add(1, std::memory_order_relaxed);
    {
        std::lock_guard<std::mutex> g(s.m);
        s.q.push_back(std::move(j));
    }
    std::lock_guard<std::mutex> g(gate_);
    queued_++;
    work_.notify_one();
}

void Pool::wait_all() {
    std::unique_lock<std::mutex> g(gate_);
    done_.wait(g, [this] { return pending_.load(std::memory_order_acquire) == 0; });
}

bool Pool::take(unsigned from, Job &j) {
    Seat &s = seats_[from];
    std::lock_guard<std::mutex> g(s.m);
    if (s.q.empty())
        return false;
    j = std::move(s.q.back());
    s.q.pop_back();
    return true;
}

void Pool::loop(unsigned me) {
    Job j;
    for (;;) {
        {
            std::unique_lock<std::mutex> g(gate_);
            work_.wait(g, [this] { return queued_ > 0 || stop_; });
            if (queued_ == 0)
                return;
            queued_--;
        }
        // a job is in one of the queues for each one that was announced
        unsigned from = me;
        while (!take(from, j)) {
            seats_[me].idle++;
            from = (from + 1) % n_;
        }
        j(me);
        seats_[me].executed++;
        if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            std::lock_guard<std::mutex> g(gate_);
            done_.notify_all();
        }
    }
}

std::uint64_t Pool::idle() const {
    std::uint64_t n = 0;
    for (unsigned i = 0; i < n_; i++)
        n += seats_[i].idle;
    return n;
}

} // namespace pool
