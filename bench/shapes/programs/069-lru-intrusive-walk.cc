#include <atomic>
#include <cstdio>
#include <list>
#include <thread>
#include <vector>

struct Client {
    explicit Client(int i) : id(i) {}
    const int id;
    std::atomic<int> quota{1 << 30};
};

static int consume(std::list<Client> &clients, int id, int n)
{
    for (auto &c : clients) {
        if (c.id != id)
            continue;
        int denied = 0;
        for (int i = 0; i < n; i++) {
            int cost = 1 + (i * 7 + id) % 5;
            if (c.quota.fetch_sub(cost, std::memory_order_relaxed) < cost)
                denied++;
        }
        return denied;
    }
    return -1;
}

int main()
{
    std::list<Client> clients;
    for (int i = 0; i < 4; i++)
        clients.emplace_back(i);
    std::vector<std::thread> ts;
    for (int i = 0; i < 4; i++)
        ts.emplace_back([&clients, i] { consume(clients, i, 800000); });
    for (auto &t : ts)
        t.join();
    long left = 0;
    for (auto &c : clients)
        left += c.quota;
    std::printf("%ld\n", left);
}
