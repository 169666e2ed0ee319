#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
public:
    explicit Pool(int n)
    {
        for (int i = 0; i < n; i++)
            threads_.emplace_back([this] { run(); });
    }
    ~Pool()
    {
        { std::lock_guard<std::mutex> g(m_); stop_ = true; }
        cv_.notify_all();
        for (auto &t : threads_)
            t.join();
    }
    void post(std::function<void()> f)
    {
        { std::lock_guard<std::mutex> g(m_); q_.push_back(std::move(f)); }
        cv_.notify_one();
    }
private:
    void run()
    {
        std::unique_lock<std::mutex> lk(m_);
        for (;;) {
            cv_.wait(lk, [this] { return stop_ || !q_.empty(); });
            if (q_.empty())
                return;
            auto f = std::move(q_.front());
            q_.pop_front();
            lk.unlock();
            f();
            lk.lock();
        }
    }
    std::mutex m_;
    std::condition_variable cv_;
    std::deque<std::function<void()>> q_;
    bool stop_ = false;
    std::vector<std::thread> threads_;
};

struct Tally { volatile unsigned votes; };

int main()
{
    auto tally = std::make_unique<Tally[]>(6);
    {
        Pool pool(3);
        for (int i = 0; i < 6; i++)
            pool.post([t = &tally[i], i] {
                unsigned x = 2463534242u + i;
                for (int k = 0; k < 600000; k++) {
                    x ^= x << 13; x ^= x >> 17; x ^= x << 5;
                    if (x % 3 == 0)
                        t->votes = t->votes + 1;
                }
            });
    }
    unsigned sum = 0;
    for (int i = 0; i < 6; i++)
        sum += tally[i].votes;
    std::printf("%u\n", sum);
}
