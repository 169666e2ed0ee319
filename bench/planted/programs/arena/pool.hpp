// a small work-stealing pool
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace pool {

using Job = std::function<void(unsigned worker)>;

// one queue a worker; the submitter and the thieves lock it too
struct Seat {
    std::mutex m;
    std::vector<Job> q;
    std::uint64_t executed = 0; // by the owner
    std::uint64_t idle = 0;     // by the owner
};

class Pool {
public:
    explicit Pool(unsigned n);
    ~Pool();
    void submit(Job j);
    void wait_all();
    unsigned size() const { return n_; }
    std::uint64_t executed(unsigned i) const { return seats_[i].executed; }
    std::uint64_t idle() const;

private:
    bool take(unsigned from, Job &j);
    void loop(unsigned me);

    const unsigned n_;
    std::unique_ptr<Seat[]> seats_;
    std::vector<std::thread> threads_;
    unsigned next_ = 0;
    alignas(64) std::atomic<long> pending_{0};
    alignas(64) std::mutex gate_;
    std::condition_variable work_, done_;
    long queued_ = 0;
    bool stop_ = false;
};

} // namespace pool
