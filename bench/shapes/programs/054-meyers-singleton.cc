#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

class Registry {
public:
    static Registry &instance()
    {
        static Registry r;
        return r;
    }
    void noteLookup() { lookups_.fetch_add(1, std::memory_order_relaxed); }
    void noteInsert() { inserts_.fetch_add(1, std::memory_order_relaxed); }
    unsigned long sum() const { return lookups_ + inserts_; }
private:
    Registry() = default;
    alignas(16) std::atomic<unsigned long> lookups_{0};
    std::atomic<unsigned long> inserts_{0};
};

static void resolver(int n)
{
    char name[16];
    for (int i = 0; i < n; i++) {
        std::snprintf(name, sizeof name, "h%d", i & 255);
        if (std::strtol(name + 1, nullptr, 10) != 13)
            Registry::instance().noteLookup();
    }
}

static void importer(int n)
{
    unsigned x = 5;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 20; k++)
            x = x * 5 + 1;
        if (x & 0x18)
            Registry::instance().noteInsert();
    }
}

int main()
{
    std::thread a(resolver, 200000), b(importer, 500000);
    a.join();
    b.join();
    std::printf("%lu\n", Registry::instance().sum());
}
