#include <atomic>
#include <cstdint>
#include <cstdio>
#include <thread>

struct Progress {
    std::atomic<uint64_t> bytesRead{0};
    std::atomic<uint64_t> bytesHashed{0};
};

static uint64_t fnv(const char *p, size_t n, uint64_t h)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ static_cast<unsigned char>(p[i])) * 1099511628211ull;
    return h;
}

int main()
{
    alignas(64) Progress progress;
    alignas(64) uint64_t digest = 14695981039346656037ull;
    std::thread reader([&progress] {
        char chunk[32];
        for (int i = 0; i < 500000; i++) {
            for (size_t k = 0; k < sizeof chunk; k++)
                chunk[k] = static_cast<char>(i + k);
            progress.bytesRead.fetch_add(sizeof chunk - (chunk[0] & 1), std::memory_order_relaxed);
        }
    });
    std::thread hasher([&] {
        const char block[] = "0123456789abcdef";
        uint64_t h = digest;
        for (int i = 0; i < 500000; i++) {
            h = fnv(block, 16, h);
            progress.bytesHashed.fetch_add(16, std::memory_order_relaxed);
        }
        digest = h;
    });
    reader.join();
    hasher.join();
    std::printf("%lu %lu %lx\n", progress.bytesRead.load(), progress.bytesHashed.load(), digest);
}
