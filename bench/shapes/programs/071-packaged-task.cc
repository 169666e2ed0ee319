#include <atomic>
#include <cstdio>
#include <future>
#include <string_view>
#include <thread>
#include <vector>

struct Scan {
    std::atomic<unsigned> newlines{0};
};
Scan scans[6];

static size_t scanText(std::string_view text, int rounds, Scan *out)
{
    size_t seen = 0;
    for (int r = 0; r < rounds; r++)
        for (char c : text) {
            seen++;
            if (c == '\n')
                out->newlines.fetch_add(1, std::memory_order_relaxed);
        }
    return seen;
}

int main()
{
    constexpr std::string_view doc = "one\ntwo\nthree\n\nfive\nsix and seven\n";
    std::vector<std::thread> ts;
    std::vector<std::future<size_t>> fs;
    for (int i = 0; i < 4; i++) {
        std::packaged_task<size_t(std::string_view, int, Scan *)> task(scanText);
        fs.push_back(task.get_future());
        ts.emplace_back(std::move(task), doc.substr(static_cast<size_t>(i)), 60000, &scans[i + 1]);
    }
    size_t bytes = 0, lines = 0;
    for (auto &f : fs)
        bytes += f.get();
    for (auto &t : ts)
        t.join();
    for (auto &s : scans)
        lines += s.newlines;
    std::printf("%zu %zu\n", bytes, lines);
}
