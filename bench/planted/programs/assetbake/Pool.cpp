// Pool.cpp
#include "Pool.h"

#include <cstdio>

namespace bake {

std::atomic<int> gActiveJobs{0};
unsigned gQueueLimit = 48;

static uint8_t sWorkerState[MAX_WORKERS];
static uint32_t sStartSerial[MAX_WORKERS];
static std::atomic<uint32_t> sFullQueue{0};
static WorkerScratch sScratch[MAX_WORKERS];
static thread_local unsigned tWorker = 0;

Pool::Pool(unsigned workers)
{
    mJobs.reserve(64);
    mStats.resize(workers);
    for (unsigned i = 0; i < workers; ++i)
        mThreads.emplace_back([this, i] { workerLoop(i); });
}

Pool::~Pool()
{
    stop();
}

void Pool::stop()
{
    {
        std::lock_guard<std::mutex> l(mJobLock);
        mStopping = true;
    }
    mJobReady.notify_all();
    for (auto& t : mThreads)
        if (t.joinable())
            t.join();
}

bool Pool::post(Job job)
{
    {
        std::lock_guard<std::mutex> l(mJobLock);
        if (mJobs.size() - mNext >= gQueueLimit) {
            sFullQueue.fetch_add(1, std::memory_order_relaxed);
            return false;
        }
        if (mNext == mJobs.size()) {
            mJobs.clear();
            mNext = 0;
        }
        mJobs.push_back(std::move(job));
    }
    mJobReady.notify_one();
    return true;
}

WorkerScratch& Pool::scratch()
{
    return sScratch[tWorker];
}

void Pool::workerLoop(unsigned index)
{
    tWorker = index;
    sStartSerial[index] = nextSerial();
    for (;;) {
        Job job;
        sWorkerState[tWorker] = 1;
        {
            std::unique_lock<std::mutex> l(mJobLock);
            while (mNext == mJobs.size() && !mStopping) {
                ++mStats[index].mWaits;
                mJobReady.wait(l);
            }
            if (mNext == mJobs.size())
                break;
            job = std::move(mJobs[mNext++]);
        }
        sWorkerState[tWorker] = 2;
        gActiveJobs.fetch_add(1, std::memory_order_relaxed);
        job(index);
        gActiveJobs.fetch_sub(1, std::memory_order_relaxed);
        ++mStats[index].mJobsRun;
        mStats[index].mLastSerial = nextSerial();
    }
    sWorkerState[tWorker] = 0;
}

void Pool::print() const
{
    for (unsigned i = 0; i < mStats.size(); ++i)
        std::printf("worker %u: from %u to %u, %u jobs, %u waits, state %u, digest %x (%u)\n", i, sStartSerial[i], mStats[i].mLastSerial,
                    mStats[i].mJobsRun, mStats[i].mWaits, sWorkerState[i], sScratch[i].mDigest, sScratch[i].mRuns);
    std::printf("queue full %u times\n", sFullQueue.load());
}

}  // namespace bake
