// Plugin.cpp
#include "Plugin.h"

#include <cstdio>

namespace bake {

namespace {

class TextureBaker : public Baker {
public:
    TextureBaker() : Baker(2) {}
    const char* title() const override { return "texture"; }
    uint32_t bake(const Resource& r) override
    {
        uint32_t h = 7;
        for (uint32_t level = 0; level < quality(); ++level)
            h = r.fingerprint(h + level);
        count();
        return h;
    }
};

class MeshBaker : public Baker {
public:
    MeshBaker() : Baker(3) {}
    const char* title() const override { return "mesh"; }
    uint32_t bake(const Resource& r) override
    {
        uint32_t h = mWeld;
        for (uint32_t pass = 0; pass < quality(); ++pass)
            h ^= r.fingerprint(pass);
        ++mWelded;
        count();
        return h;
    }
    void tune(uint32_t v) override { mWeld = v; }

private:
    uint32_t mWeld = 11;
    uint32_t mWelded = 0;
};

class SoundBaker : public Baker {
public:
    SoundBaker() : Baker(1) {}
    const char* title() const override { return "sound"; }
    uint32_t bake(const Resource& r) override
    {
        count();
        const uint32_t h = r.fingerprint(quality());
        if (h == 0)
            ++mSilent;
        return h;
    }

private:
    uint32_t mSilent = 0;
};

template <class B>
std::unique_ptr<Baker> make()
{
    return std::make_unique<B>();
}

PluginEntry sPlugins[] = {
    {Kind::SOUND, true, 0, make<SoundBaker>, nullptr},
    {Kind::MESH, true, 0, make<MeshBaker>, nullptr},
    {Kind::TEXTURE, true, 0, make<TextureBaker>, nullptr},
};

uint32_t sKindTally[static_cast<size_t>(Kind::LAST)];
uint32_t sUnknownKinds = 0;

class Recorder : public Listener {
public:
    explicit Recorder(uint32_t mask) : mMask(mask) {}
    void onBaked(const Resource& r, uint32_t print) override
    {
        if ((print & mMask) == 0)
            mMatches.fetch_add(r.flags(), std::memory_order_relaxed);
    }
    ~Recorder() override { std::printf("recorder %x: %u\n", mMask, mMatches.load()); }

private:
    const uint32_t mMask;
    std::atomic<uint32_t> mMatches{0};
};

}  // namespace

PluginHost& PluginHost::instance()
{
    static PluginHost sHost;
    return sHost;
}

void PluginHost::load()
{
    for (auto& e : sPlugins) {
        mOwned.push_back(e.mFactory());
        e.mBaker = mOwned.back().get();
        e.mBaker->tune(17);
    }
    subscribe(std::make_unique<Recorder>(1));
    subscribe(std::make_unique<Recorder>(2));
}

PluginEntry* PluginHost::entryFor(Kind k)
{
    for (auto& e : sPlugins)
        if (e.mHandles == k && e.mEnabled) {
            ++e.mCalls;
            return &e;
        }
    ++sUnknownKinds;
    return nullptr;
}

void PluginHost::notify(const Resource& r, uint32_t print)
{
    ++sKindTally[static_cast<size_t>(r.kind())];
    for (auto& l : mListeners)
        l->onBaked(r, print);
}

void PluginHost::print() const
{
    for (const auto& e : sPlugins)
        std::printf("plugin %s: %u calls, %u produced, %u seen\n", e.mBaker->title(), e.mCalls, e.mBaker->produced(),
                    sKindTally[static_cast<size_t>(e.mHandles)]);
}

}  // namespace bake
