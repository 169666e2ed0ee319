#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>

class Duplex {
public:
    void run()
    {
        std::thread in([this] { inbound(); });
        std::thread out([this] { outbound(); });
        in.join();
        out.join();
    }
    long sum() const { return inCount + outCount; }
private:
    void inbound()
    {
        unsigned crc = 0;
        for (int i = 0; i < 400000; i++) {
            crc = (crc >> 3) ^ (crc << 11) ^ static_cast<unsigned>(i);
            std::lock_guard<std::mutex> g(in_m);
            inCount += crc & 1;
        }
    }
    void outbound()
    {
        unsigned seq = 1;
        for (int i = 0; i < 400000; i++) {
            seq = seq * 48271u % 2147483647u;
            std::lock_guard<std::mutex> g(out_m);
            outCount += seq & 1;
        }
    }
    alignas(64) std::mutex in_m;
    long inCount = 0;
    std::mutex out_m;
    long outCount = 0;
};

int main()
{
    auto d = std::make_shared<Duplex>();
    d->run();
    std::printf("%ld\n", d->sum());
}
