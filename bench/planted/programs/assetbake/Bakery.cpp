// Bakery.cpp
#include "Bakery.h"

#include <cstdio>

namespace bake {

namespace {

constexpr unsigned ASSETS = 24;

std::atomic<uint32_t> sReleased{0};
std::atomic<bool> sCancel{false};
uint32_t sCookOrders[4];
uint32_t sPackedBy[MAX_WORKERS];
uint32_t sIdleScans = 0;
uint32_t sDroppedPackets = 0;
uint64_t sImportSums[3][16];

}  // namespace

void Progress::update(uint64_t done)
{
    const uint32_t d = static_cast<uint32_t>(done - mSeen);
    mSeen = done;
    ++mUpdates;
    if (d > mBest)
        mBest = d;
}

Bakery::Bakery(const Options& o) : mOptions(o), mLibrary(Library::instance()), mHost(PluginHost::instance())
{
    mLibrary.fill(ASSETS);
    mHost.load();
    mBaked = Metrics::instance().counter("baked");
    mOrdered = Metrics::instance().counter("ordered");
    mBytes = Metrics::instance().counter("bytes");
    for (unsigned i = 0; i < o.mWorkers; ++i)
        mOutboxes.push_back(std::make_unique<Outbox>());
    for (unsigned i = 0; i < o.mCooks; ++i)
        mCooks.push_back(std::make_unique<Cook>(*this, i));
    mProgress = std::make_unique<Progress>();
}

Bakery::~Bakery() = default;

// First pass over all sources, before the pool exists.
uint32_t Bakery::importAll()
{
    std::vector<std::thread> ts;
    for (unsigned p = 0; p < 3; ++p)
        ts.emplace_back([this, p] {
            for (uint32_t a = p; a < mLibrary.size(); a += 3)
                sImportSums[p][a / 3] = mLibrary.peek(a)->fingerprint(p);
        });
    for (auto& t : ts)
        t.join();
    uint64_t sum = 0;
    for (auto& part : sImportSums)
        for (uint64_t v : part)
            sum += v;
    return static_cast<uint32_t>(sum);
}

bool Bakery::order(uint32_t asset)
{
    if (sCancel.load(std::memory_order_relaxed))
        return true;
    if (!mPool->post([this, asset](unsigned worker) { bakeOne(asset, worker); }))
        return false;
    mOrdered->add(1);
    return true;
}

void Bakery::bakeOne(uint32_t asset, unsigned worker)
{
    while (mProgress->paused())
        std::this_thread::yield();
    sp<Resource> r = Library::instance().find(asset);
    PluginEntry* e = r ? mHost.entryFor(r->kind()) : nullptr;
    if (!e) {
        Log::instance().write("no baker for", asset);
        return;
    }
    const uint32_t print = e->mBaker->bake(*r) + Clock::instance().now();
    r->baked();
    mBaked->add(1);
    mBytes->add(print % 4096);
    if (mLibrary.arrive(asset))
        sReleased.fetch_add(1, std::memory_order_relaxed);
    mHost.notify(*r, print);
    WorkerScratch& s = Pool::scratch();
    s.mDigest = s.mDigest * 31 + print;
    ++s.mRuns;
    if (s.mRuns % mProgress->stride() == 0 && !mOutboxes[worker]->offer({asset, print}))
        std::this_thread::yield();
}

void Bakery::packagerLoop()
{
    while (!mFinished.load(std::memory_order_acquire)) {
        unsigned n = 0;
        for (unsigned w = 0; w < mOutboxes.size(); ++w) {
            Packet p;
            while (mOutboxes[w]->take(p)) {
                mManifest = mManifest * 17 + (p.mPrint ^ p.mAsset);
                ++mPacked;
                ++sPackedBy[w];
                ++n;
            }
        }
        if (!n)
            std::this_thread::yield();
    }
}

void Bakery::monitorLoop()
{
    while (!mFinished.load(std::memory_order_acquire)) {
        mProgress->update(mBaked->total());
        Clock::instance().advance();
        if (gActiveJobs.load(std::memory_order_relaxed) == 0)
            ++sIdleScans;
        std::this_thread::yield();
    }
}

void Bakery::watcherLoop()
{
    uint32_t pass = 0;
    while (!mFinished.load(std::memory_order_acquire)) {
        ++pass;
        for (uint32_t a = 0; a < mLibrary.size(); ++a) {
            Resource* r = mLibrary.peek(a);
            if (r->flags() & 1)
                r->touch(pass);
        }
        std::this_thread::yield();
    }
}

void Cook::run(unsigned rounds, unsigned assets)
{
    while (mDone < rounds) {
        mSeed = mSeed * 1103515245u + 12345u;
        const uint32_t asset = (mSeed >> 16) % assets;
        while (!mBakery.order(asset)) {
            ++mRetries;
            std::this_thread::yield();
        }
        ++sCookOrders[mIndex];
        ++mDone;
    }
}

void Bakery::run()
{
    Log::instance().write("imported", importAll());
    mPool = std::make_unique<Pool>(mOptions.mWorkers);
    std::thread packager(&Bakery::packagerLoop, this);
    std::thread monitor([this] { monitorLoop(); });
    std::thread watcher(std::bind(&Bakery::watcherLoop, this));
    std::vector<std::thread> cooks;
    for (auto& c : mCooks)
        cooks.emplace_back([this, &c] { c->run(mOptions.mRounds, ASSETS); });
    for (auto& t : cooks)
        t.join();
    mPool->stop();
    mFinished.store(true, std::memory_order_release);
    packager.join();
    monitor.join();
    watcher.join();
}

void Bakery::report() const
{
    uint32_t orders = 0, retries = 0, refused = 0, packed = 0;
    for (uint32_t o : sCookOrders)
        orders += o;
    for (auto& c : mCooks)
        retries += c->retries();
    for (auto& o : mOutboxes)
        refused += o->refused();
    for (uint32_t p : sPackedBy)
        packed += p;
    std::printf("%u orders, %u retries, %u released, %u packed (%u), %u refused, %u dropped, manifest %x\n", orders, retries, sReleased.load(),
                mPacked, packed, refused, sDroppedPackets, mManifest);
    std::printf("progress: %u updates, best %u, idle %u, %u log lines\n", mProgress->updates(), mProgress->best(), sIdleScans,
                Log::instance().lines());
    mLibrary.print();
    mHost.print();
    mPool->print();
    if (mOptions.mVerbose)
        Metrics::instance().print();
}

}  // namespace bake

int main(int argc, char** argv)
{
    bake::Options o;
    if (argc > 1)
        o.mRounds = static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10));
    o.mVerbose = argc > 2;
    std::unique_ptr<bake::Bakery> bakery(new bake::Bakery(o));
    bakery->run();
    bakery->report();
    return 0;
}
