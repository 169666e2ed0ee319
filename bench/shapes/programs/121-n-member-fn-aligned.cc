#include <atomic>
#include <cstdio>
#include <string>
#include <thread>

class Server {
public:
    explicit Server(int rounds) : rounds_(rounds) {}
    void start()
    {
        rx_ = std::thread(&Server::receiveLoop, this);
        tx_ = std::thread(&Server::sendLoop, this);
    }
    void wait() { rx_.join(); tx_.join(); }
    long total() const { return received_ + sent_; }

private:
    void receiveLoop()
    {
        unsigned state = 1;
        for (int i = 0, n = rounds_; i < n; i++) {
            state = state * 1664525u + 1013904223u;
            if (state >> 28)
                received_.fetch_add(1, std::memory_order_relaxed);
        }
    }
    void sendLoop()
    {
        std::string msg;
        for (int i = 0, n = rounds_; i < n; i++) {
            msg.push_back(static_cast<char>('a' + i % 26));
            if (msg.size() > 60)
                msg.clear();
            sent_.fetch_add(1, std::memory_order_relaxed);
        }
    }
    std::thread rx_, tx_;
    int rounds_;
    alignas(64) std::atomic<long> received_{0};
    alignas(64) std::atomic<long> sent_{0};
};

int main()
{
    static Server server(700000);
    server.start();
    server.wait();
    std::printf("%ld\n", server.total());
}
