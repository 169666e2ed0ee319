// Pool.h - threads and the jobs they run
#ifndef ASSETBAKE_POOL_H
#define ASSETBAKE_POOL_H

#include "Base.h"

#include <condition_variable>
#include <thread>

namespace bake {

constexpr unsigned MAX_WORKERS = 4;

using Job = std::function<void(unsigned worker)>;

struct WorkerStats {
    uint32_t mJobsRun = 0;
    uint32_t mWaits = 0;
    uint32_t mLastSerial = 0;
};

struct alignas(64) WorkerScratch {
    uint32_t mDigest = 0;
    uint32_t mRuns = 0;
};

class Pool : private NonCopyable {
public:
    explicit Pool(unsigned workers);
    ~Pool();
    bool post(Job job);
    void stop();
    void print() const;
    static WorkerScratch& scratch();

private:
    void workerLoop(unsigned index);

    std::mutex mJobLock;
    std::condition_variable mJobReady;
    std::vector<Job> mJobs;
    size_t mNext = 0;
    bool mStopping = false;
    std::vector<WorkerStats> mStats;
    std::vector<std::thread> mThreads;
};

extern std::atomic<int> gActiveJobs;
extern unsigned gQueueLimit;

// From one worker to the packager.
struct Packet {
    uint32_t mAsset;
    uint32_t mPrint;
};

class Outbox : private NonCopyable {
public:
    bool offer(const Packet& p)
    {
        const uint32_t w = mWritten.load(std::memory_order_relaxed);
        if (w - mTaken.load(std::memory_order_acquire) == 16) {
            ++mRefused;
            return false;
        }
        mPackets[w % 16] = p;
        mWritten.store(w + 1, std::memory_order_release);
        return true;
    }
    bool take(Packet& p)
    {
        const uint32_t t = mTaken.load(std::memory_order_relaxed);
        if (t == mWritten.load(std::memory_order_acquire))
            return false;
        p = mPackets[t % 16];
        mTaken.store(t + 1, std::memory_order_release);
        return true;
    }
    uint32_t refused() const { return mRefused; }

private:
    std::atomic<uint32_t> mWritten{0};
    std::atomic<uint32_t> mTaken{0};
    uint32_t mRefused = 0;
    Packet mPackets[16];
};

}  // namespace bake

#endif
