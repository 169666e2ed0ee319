// Bakery.h - puts it all together
#ifndef ASSETBAKE_BAKERY_H
#define ASSETBAKE_BAKERY_H

#include "Plugin.h"
#include "Pool.h"

namespace bake {

// Everybody looks at it, the monitor keeps it up to date.
class Progress : private NonCopyable {
public:
    bool paused() const { return mPaused.load(std::memory_order_relaxed); }
    uint32_t stride() const { return mStride; }
    void update(uint64_t done);
    uint32_t updates() const { return mUpdates; }
    uint32_t best() const { return mBest; }

private:
    std::atomic<bool> mPaused{false};
    uint32_t mStride = 4;
    uint32_t mUpdates = 0;
    uint32_t mBest = 0;
    uint64_t mSeen = 0;
};

class Cook;

class Bakery : private NonCopyable {
public:
    explicit Bakery(const Options& o);
    ~Bakery();
    void run();
    void report() const;
    bool order(uint32_t asset);

private:
    void bakeOne(uint32_t asset, unsigned worker);
    void packagerLoop();
    void monitorLoop();
    void watcherLoop();
    uint32_t importAll();

    const Options mOptions;
    Library& mLibrary;
    PluginHost& mHost;
    Counter* mBaked;
    Counter* mOrdered;
    Counter* mBytes;
    std::vector<std::unique_ptr<Outbox>> mOutboxes;
    std::vector<std::unique_ptr<Cook>> mCooks;
    std::unique_ptr<Progress> mProgress;
    std::unique_ptr<Pool> mPool;
    std::atomic<bool> mFinished{false};
    uint32_t mPacked = 0;
    uint32_t mManifest = 0;
};

// Orders the baking of one resource after another.
class Cook : private NonCopyable {
public:
    Cook(Bakery& bakery, unsigned index) : mBakery(bakery), mIndex(index), mSeed(index * 7919 + 1) {}
    void run(unsigned rounds, unsigned assets);
    uint32_t retries() const { return mRetries; }

private:
    Bakery& mBakery;
    const unsigned mIndex;
    uint32_t mSeed;
    uint32_t mDone = 0;
    uint32_t mRetries = 0;
};

}  // namespace bake

#endif
