// Resource.h - what is baked
#ifndef ASSETBAKE_RESOURCE_H
#define ASSETBAKE_RESOURCE_H

#include "Base.h"

namespace bake {

enum class Kind : uint8_t { TEXTURE, MESH, SOUND, LAST };

class Resource : public RefBase {
public:
    Resource(uint32_t id, Kind kind, uint16_t flags) : mId(id), mKind(kind), mFlags(flags) {}
    virtual uint32_t fingerprint(uint32_t salt) const = 0;

    uint32_t id() const { return mId; }
    Kind kind() const { return mKind; }
    uint16_t flags() const { return mFlags; }
    uint32_t bakes() const { return mBakes.load(std::memory_order_relaxed); }
    void baked() { mBakes.fetch_add(1, std::memory_order_relaxed); }
    void touch(uint32_t when)
    {
        mTouched = when;
        ++mScans;
    }
    uint32_t scans() const { return mScans; }

private:
    const uint32_t mId;
    const Kind mKind;
    const uint16_t mFlags;
    std::atomic<uint32_t> mBakes{0};
    uint32_t mTouched = 0;  // watcher
    uint32_t mScans = 0;    // watcher
};

class Texture final : public Resource {
public:
    explicit Texture(uint32_t id);
    uint32_t fingerprint(uint32_t salt) const override;

private:
    uint16_t mWidth, mHeight;
    uint8_t mTexels[12];
};

class Mesh final : public Resource {
public:
    explicit Mesh(uint32_t id);
    uint32_t fingerprint(uint32_t salt) const override;

private:
    float mVertices[6];
    uint16_t mIndices[4];
};

class Sound final : public Resource {
public:
    explicit Sound(uint32_t id);
    uint32_t fingerprint(uint32_t salt) const override;

private:
    uint32_t mRate;
    int16_t mSamples[10];
};

sp<Resource> makeResource(uint32_t id);

// Which resources wait for which; one node for each resource.
struct Node {
    uint16_t mFirst;
    uint16_t mNeeds;
    std::atomic<int32_t> mPending;
    uint32_t mGeneration;
};

class Library : private NonCopyable {
public:
    static Library& instance();
    void fill(unsigned count);
    sp<Resource> find(uint32_t id);
    bool arrive(uint32_t id);
    Resource* peek(uint32_t id) { return mAll[id].get(); }
    unsigned size() const { return static_cast<unsigned>(mAll.size()); }
    void print() const;

private:
    struct Bucket {
        std::mutex mBucketLock;
        std::vector<sp<Resource>> mChain;
        uint32_t mLookups = 0;
    };
    Library() = default;
    std::vector<sp<Resource>> mAll;
    std::unique_ptr<Node[]> mNodes;
    Bucket mBuckets[4];
};

}  // namespace bake

#endif
