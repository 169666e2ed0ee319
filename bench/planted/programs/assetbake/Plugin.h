// Plugin.h - bakers for the kinds of resources
#ifndef ASSETBAKE_PLUGIN_H
#define ASSETBAKE_PLUGIN_H

#include "Resource.h"

namespace bake {

class Baker : private NonCopyable {
public:
    virtual ~Baker() = default;
    virtual const char* title() const = 0;
    virtual uint32_t bake(const Resource& r) = 0;
    uint32_t produced() const { return mProduced.load(std::memory_order_relaxed); }
    virtual void tune(uint32_t) {}

protected:
    explicit Baker(uint32_t quality) : mQuality(quality) {}
    void count() { mProduced.fetch_add(1, std::memory_order_relaxed); }
    uint32_t quality() const { return mQuality; }

private:
    const uint32_t mQuality;
    std::atomic<uint32_t> mProduced{0};
};

using BakerFactory = std::unique_ptr<Baker> (*)();

struct PluginEntry {
    Kind mHandles;
    bool mEnabled;
    uint32_t mCalls;
    BakerFactory mFactory;
    Baker* mBaker;
};

// Called on the thread of the worker that finished a resource.
class Listener : private NonCopyable {
public:
    virtual ~Listener() = default;
    virtual void onBaked(const Resource& r, uint32_t print) = 0;
};

class PluginHost : private NonCopyable {
public:
    static PluginHost& instance();
    void load();
    PluginEntry* entryFor(Kind k);
    void subscribe(std::unique_ptr<Listener> l) { mListeners.push_back(std::move(l)); }
    void notify(const Resource& r, uint32_t print);
    void print() const;

private:
    PluginHost() = default;
    std::vector<std::unique_ptr<Baker>> mOwned;
    std::vector<std::unique_ptr<Listener>> mListeners;
};

}  // namespace bake

#endif
