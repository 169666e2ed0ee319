// Resource.cpp
#include "Resource.h"

#include <cstdio>

namespace bake {

static uint32_t mix(uint32_t h, uint32_t v)
{
    h ^= v;
    h *= 16777619u;
    return h ^ h >> 13;
}

Texture::Texture(uint32_t id) : Resource(id, Kind::TEXTURE, 1), mWidth(4), mHeight(3)
{
    for (unsigned i = 0; i < sizeof mTexels; ++i)
        mTexels[i] = static_cast<uint8_t>(id * 3 + i);
}

uint32_t Texture::fingerprint(uint32_t salt) const
{
    uint32_t h = salt;
    for (unsigned i = 0; i < unsigned(mWidth) * mHeight; ++i)
        h = mix(h, mTexels[i]);
    return h;
}

Mesh::Mesh(uint32_t id) : Resource(id, Kind::MESH, 3)
{
    for (unsigned i = 0; i < 6; ++i)
        mVertices[i] = static_cast<float>(id) * 0.25f + static_cast<float>(i);
    for (unsigned i = 0; i < 4; ++i)
        mIndices[i] = static_cast<uint16_t>((id + i * 5) % 6);
}

uint32_t Mesh::fingerprint(uint32_t salt) const
{
    float sum = 0;
    for (uint16_t ix : mIndices)
        sum += mVertices[ix];
    return mix(salt, static_cast<uint32_t>(sum * 64.0f));
}

Sound::Sound(uint32_t id) : Resource(id, Kind::SOUND, 1), mRate(22050)
{
    for (int i = 0; i < 10; ++i)
        mSamples[i] = static_cast<int16_t>((static_cast<int>(id) * 91 + i * 37) % 200 - 100);
}

uint32_t Sound::fingerprint(uint32_t salt) const
{
    uint32_t energy = mRate;
    for (int16_t s : mSamples)
        energy += static_cast<uint32_t>(s * s);
    return mix(salt, energy);
}

sp<Resource> makeResource(uint32_t id)
{
    switch (id % 3) {
    case 0:
        return sp<Resource>(new Texture(id));
    case 1:
        return sp<Resource>(new Mesh(id));
    default:
        return sp<Resource>(new Sound(id));
    }
}

Library& Library::instance()
{
    static Library sLibrary;
    return sLibrary;
}

void Library::fill(unsigned count)
{
    mNodes = std::make_unique<Node[]>(count);
    mAll.reserve(count);
    for (unsigned i = 0; i < count; ++i) {
        mAll.push_back(makeResource(i));
        mBuckets[i % 4].mChain.push_back(mAll.back());
        mNodes[i].mFirst = static_cast<uint16_t>(i * 7 % count);
        mNodes[i].mNeeds = static_cast<uint16_t>(2 + i % 3);
        mNodes[i].mPending.store(mNodes[i].mNeeds);
        mNodes[i].mGeneration = 0;
    }
}

sp<Resource> Library::find(uint32_t id)
{
    Bucket& b = mBuckets[id % 4];
    std::lock_guard<std::mutex> l(b.mBucketLock);
    ++b.mLookups;
    for (const auto& r : b.mChain)
        if (r->id() == id)
            return r;
    return {};
}

// True when all that the next one needs is there.
bool Library::arrive(uint32_t id)
{
    Node& n = mNodes[mNodes[id].mFirst];
    if (n.mPending.fetch_sub(1, std::memory_order_acq_rel) != 1)
        return false;
    n.mPending.fetch_add(n.mNeeds, std::memory_order_release);
    ++n.mGeneration;
    return true;
}

void Library::print() const
{
    uint64_t bakes = 0, scans = 0, gens = 0;
    for (unsigned i = 0; i < mAll.size(); ++i) {
        bakes += mAll[i]->bakes();
        scans += mAll[i]->scans();
        gens += mNodes[i].mGeneration;
    }
    std::printf("library: %zu resources, %llu bakes, %llu scans, %llu generations\n", mAll.size(), static_cast<unsigned long long>(bakes),
                static_cast<unsigned long long>(scans), static_cast<unsigned long long>(gens));
    for (const auto& b : mBuckets)
        std::printf("  bucket: %zu entries, %u lookups\n", b.mChain.size(), b.mLookups);
}

}  // namespace bake
