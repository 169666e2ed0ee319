#include <atomic>
#include <cstdio>
#include <memory>
#include <pthread.h>
#include <vector>

class Runnable {
public:
    virtual ~Runnable() = default;
    virtual void run() = 0;
};

class Thread {
public:
    explicit Thread(std::unique_ptr<Runnable> r) : r_(std::move(r)) {}
    void start() { pthread_create(&id_, nullptr, &Thread::entry, r_.get()); }
    void join() { pthread_join(id_, nullptr); }
private:
    static void *entry(void *p)
    {
        static_cast<Runnable *>(p)->run();
        return nullptr;
    }
    pthread_t id_{};
    std::unique_ptr<Runnable> r_;
};

struct alignas(64) Metrics {
    std::atomic<long> compacted{0};
    std::atomic<long> indexed{0};
};

class Compactor : public Runnable {
public:
    explicit Compactor(Metrics &m) : m_(m) {}
    void run() override
    {
        unsigned key = 1;
        for (int i = 0; i < 800000; i++) {
            key = key * 22695477u + 1;
            if (key & 0x30000)
                m_.compacted.fetch_add(1, std::memory_order_relaxed);
        }
    }
private:
    Metrics &m_;
};

class Indexer : public Runnable {
public:
    explicit Indexer(Metrics &m) : m_(m) {}
    void run() override
    {
        for (unsigned i = 0; i < 800000; i++)
            if (__builtin_popcount(i * 2654435761u) > 10)
                m_.indexed.fetch_add(1, std::memory_order_relaxed);
    }
private:
    Metrics &m_;
};

int main()
{
    auto m = std::make_unique<Metrics>();
    std::vector<Thread> ts;
    ts.emplace_back(std::make_unique<Compactor>(*m));
    ts.emplace_back(std::make_unique<Indexer>(*m));
    for (auto &t : ts)
        t.start();
    for (auto &t : ts)
        t.join();
    std::printf("%ld %ld\n", m->compacted.load(), m->indexed.load());
}
