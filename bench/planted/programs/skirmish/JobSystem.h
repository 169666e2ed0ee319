#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace sk {

class JobSystem;

struct JobContext {
    uint32_t worker;
    JobSystem* jobs;
};

using JobFn = void (*)(void* data, uint32_t begin, uint32_t end, const JobContext& ctx);

struct alignas(64) JobCounter {
    std::atomic<int32_t> pending{0};
};

struct Job {
    JobFn fn = nullptr;
    void* data = nullptr;
    JobCounter* counter = nullptr;
    uint32_t begin = 0;
    uint32_t end = 0;
};

// One producer (the frame thread), several takers.
class JobQueue {
public:
    static constexpr uint32_t kSize = 128;

    bool Push(const Job& job);
    bool Pop(Job& out);
    uint32_t Overflows() const { return overflow_; }

private:
    alignas(64) std::atomic<uint32_t> top_{0};
    std::atomic<uint32_t> bottom_{0};
    uint32_t pushed_ = 0;
    uint32_t overflow_ = 0;
    alignas(64) Job ring_[kSize];
};

struct Worker {
    JobQueue* queue = nullptr;
    uint32_t executed = 0;
    uint32_t stolen = 0;
    uint32_t idle = 0;
    uint32_t index = 0;
};

class JobSystem {
public:
    static std::atomic<uint32_t> jobsRun;

    explicit JobSystem(uint32_t workers);
    ~JobSystem();
    JobSystem(const JobSystem&) = delete;
    JobSystem& operator=(const JobSystem&) = delete;

    uint32_t WorkerCount() const { return static_cast<uint32_t>(workers_.size()); }
    void Dispatch(JobFn fn, void* data, uint32_t count, uint32_t batch, JobCounter& counter);
    void Wait(JobCounter& counter);
    void Shutdown();
    uint32_t Overflows() const;

private:
    void Loop(Worker& self);
    bool Take(Worker& self, Job& job);

    std::vector<Worker> workers_;
    std::vector<std::unique_ptr<JobQueue>> queues_;
    std::vector<std::thread> threads_;
    alignas(64) std::atomic<bool> quit_{false};
};

}  // namespace sk
