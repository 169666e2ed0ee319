#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

class Runnable {
public:
    virtual ~Runnable() = default;
    virtual void run() = 0;
};

struct Metrics {
    std::atomic<long> compacted{0};
    std::atomic<long> indexed{0};
};

class Compactor : public Runnable {
public:
    explicit Compactor(Metrics &m) : m_(m) {}
    void run() override
    {
        unsigned key = 1;
        long n = 0;
        for (int i = 0; i < 2000000; i++) {
            key = key * 22695477u + 1;
            if (key & 0x30000)
                n++;
        }
        m_.compacted.fetch_add(n, std::memory_order_relaxed);
    }
private:
    Metrics &m_;
};

class Indexer : public Runnable {
public:
    explicit Indexer(Metrics &m) : m_(m) {}
    void run() override
    {
        long n = 0;
        for (unsigned i = 0; i < 2000000; i++)
            if (__builtin_popcount(i * 2654435761u) > 10)
                n++;
        m_.indexed.fetch_add(n, std::memory_order_relaxed);
    }
private:
    Metrics &m_;
};

int main()
{
    auto m = std::make_unique<Metrics>();
    std::vector<std::unique_ptr<Runnable>> jobs;
    jobs.push_back(std::make_unique<Compactor>(*m));
    jobs.push_back(std::make_unique<Indexer>(*m));
    std::vector<std::thread> ts;
    for (auto &j : jobs)
        ts.emplace_back(&Runnable::run, j.get());
    for (auto &t : ts)
        t.join();
    std::printf("%ld %ld\n", m->compacted.load(), m->indexed.load());
}
