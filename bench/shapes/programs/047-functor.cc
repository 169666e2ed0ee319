#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>

struct alignas(64) Journal {
    std::atomic<unsigned> appended{0};
    std::atomic<unsigned> flushed{0};
};

class Appender {
public:
    Appender(Journal *j, int n) : j_(j), n_(n) {}
    void operator()()
    {
        unsigned rec = 7;
        for (int i = 0; i < n_; i++) {
            rec = (rec << 7 | rec >> 25) + static_cast<unsigned>(i);
            if (rec & 3)
                j_->appended.fetch_add(1, std::memory_order_relaxed);
        }
    }
private:
    Journal *j_;
    int n_;
};

class Flusher {
public:
    Flusher(Journal *j, int n) : j_(j), n_(n) {}
    void operator()() const
    {
        unsigned char page[64] = {};
        for (int i = 0; i < n_; i++) {
            page[i & 63] ^= static_cast<unsigned char>(i);
            if (page[(i * 7) & 63] != 1)
                j_->flushed.fetch_add(1, std::memory_order_relaxed);
        }
    }
private:
    Journal *j_;
    int n_;
};

int main()
{
    auto *j = new Journal;
    std::thread a(Appender(j, 900000));
    std::thread b{Flusher(j, 900000)};
    a.join();
    b.join();
    std::printf("%u %u\n", j->appended.load(), j->flushed.load());
    delete j;
}
