#include <cstdint>
#include <cstdio>
#include <future>
#include <vector>

static uint32_t collatz(uint32_t n)
{
    uint32_t steps = 0;
    while (n != 1 && steps < 200) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        steps++;
    }
    return steps;
}

int main()
{
    const size_t n = 4;
    std::vector<char> busy(n, 0);
    std::vector<std::future<uint64_t>> jobs;
    for (size_t i = 0; i < n; i++)
        jobs.push_back(std::async(std::launch::async, [&busy, i, step = n] {
            uint64_t total = 0;
            char *flag = &busy[i];
            const uint32_t stride = static_cast<uint32_t>(step);
            for (uint32_t v = static_cast<uint32_t>(i) + 1; v < 100000; v += stride) {
                __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
                total += collatz(v);
                __atomic_store_n(flag, 0, __ATOMIC_RELEASE);
            }
            return total;
        }));
    uint64_t sum = 0;
    for (auto &j : jobs)
        sum += j.get();
    std::printf("%lu\n", static_cast<unsigned long>(sum));
}
