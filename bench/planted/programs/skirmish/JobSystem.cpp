#include "JobSystem.h"

namespace sk {

std::atomic<uint32_t> JobSystem::jobsRun{0};

bool JobQueue::Push(const Job& job) {
    uint32_t b = bottom_.load(std::memory_order_relaxed);
    if (b - top_.load(std::memory_order_acquire) == kSize) {
        ++overflow_;
        return false;
    }
    ring_[b % kSize] = job;
    ++pushed_;
    bottom_.store(b + 1, std::memory_order_release);
    return true;
}

bool JobQueue::Pop(Job& out) {
    uint32_t t = top_.load(std::memory_order_acquire);
    while (t != bottom_.load(std::memory_order_acquire)) {
        out = ring_[t % kSize];
        if (top_.compare_exchange_weak(t, t + 1, std::memory_order_acq_rel))
            return true;
    }
    return false;
}

JobSystem::JobSystem(uint32_t workers) : workers_(workers) {
    for (uint32_t i = 0; i < workers; ++i) {
        queues_.push_back(std::make_unique<JobQueue>());
        workers_[i].queue = queues_[i].get();
        workers_[i].index = i;
    }
    for (Worker& w : workers_)
        threads_.emplace_back([this, &w] { Loop(w); });
}

JobSystem::~JobSystem() { Shutdown(); }

void JobSystem::Shutdown() {
    quit_.store(true, std::memory_order_release);
    for (std::thread& t : threads_)
        if (t.joinable())
            t.join();
}

uint32_t JobSystem::Overflows() const {
    uint32_t n = 0;
    for (const auto& q : queues_)
        n += q->Overflows();
    return n;
}

bool JobSystem::Take(Worker& self, Job& job) {
    if (self.queue->Pop(job)) {
        self.idle = 0;
        return true;
    }
    if (++self.idle < 64) {
        return false;
    }
    self.idle = 0;
    for (auto& q : queues_)
        if (q.get() != self.queue && q->Pop(job)) {
            ++self.stolen;
            return true;
        }
    return false;
}

void JobSystem::Loop(Worker& self) {
    JobContext ctx{self.index, this};
    Job job;
    while (!quit_.load(std::memory_order_acquire)) {
        if (!Take(self, job)) {
            std::this_thread::yield();
            continue;
        }
        job.fn(job.data, job.begin, job.end, ctx);
        ++self.executed;
        jobsRun.fetch_add(1, std::memory_order_relaxed);
        job.counter->pending.fetch_sub(1, std::memory_order_acq_rel);
    }
}

void JobSystem::Dispatch(JobFn fn, void* data, uint32_t count, uint32_t batch, JobCounter& counter) {
    uint32_t n = 0;
    for (uint32_t at = 0; at < count; at += batch, ++n) {
        Job job{fn, data, &counter, at, at + batch < count ? at + batch : count};
        counter.pending.fetch_add(1, std::memory_order_relaxed);
        while (!queues_[n % queues_.size()]->Push(job))
            std::this_thread::yield();
    }
}

void JobSystem::Wait(JobCounter& counter) {
    while (counter.pending.load(std::memory_order_acquire) != 0)
        std::this_thread::yield();
}

}  // namespace sk
