#include <atomic>
#include <cstdio>
#include <thread>

class SpinLock {
public:
    void lock() { while (flag_.test_and_set(std::memory_order_acquire)) ; }
    void unlock() { flag_.clear(std::memory_order_release); }
private:
    std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

class Mixer {
public:
    void play(int n)
    {
        std::thread render([this, n] {
            int v = 1;
            for (int i = 0; i < n; i++) {
                v = v * 5 % 9973;
                guard_.lock();
                level_ = v;
                guard_.unlock();
            }
        });
        std::thread monitor([this, n] {
            unsigned fill = 40;
            for (int i = 0; i < n; i++) {
                fill = (fill * 13 + 7) & 0xff;
                if (fill < 100)
                    underruns_.fetch_add(1, std::memory_order_relaxed);
            }
        });
        render.join();
        monitor.join();
    }
    unsigned result() const { return underruns_ + static_cast<unsigned>(level_); }
private:
    alignas(16) SpinLock guard_;
    int level_ = 0;
    std::atomic<unsigned> underruns_{0};
};

int main()
{
    static Mixer mx;
    mx.play(1000000);
    std::printf("%u\n", mx.result());
}
