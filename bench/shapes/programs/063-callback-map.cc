#include <atomic>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

class Driver {
public:
    void on(const std::string &name, std::function<void(int)> cb) { cbs_[name] = std::move(cb); }
    void runAll(int rounds)
    {
        std::vector<std::thread> ts;
        for (auto &[name, cb] : cbs_)
            ts.emplace_back([&cb = cb, rounds] {
                for (int i = 0; i < rounds; i++)
                    cb(i);
            });
        for (auto &t : ts)
            t.join();
    }
private:
    std::map<std::string, std::function<void(int)>> cbs_;
};

class Controller {
public:
    explicit Controller(Driver &d)
    {
        d.on("open", [this](int fd) {
            if (fd % 3)
                opened_.fetch_add(1, std::memory_order_relaxed);
        });
        d.on("close", [this](int fd) {
            if (fd % 5)
                closed_.fetch_add(1, std::memory_order_relaxed);
        });
    }
    int open() const { return opened_ - closed_; }
private:
    alignas(8) std::atomic<int> opened_{0};
    std::atomic<int> closed_{0};
};

int main()
{
    Driver d;
    Controller c(d);
    d.runAll(1000000);
    std::printf("%d\n", c.open());
}
