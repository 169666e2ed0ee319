#include <array>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <vector>

using Counts = std::array<volatile size_t, 4>;

static void countPrefix(const std::vector<std::string> &words, char first, Counts::iterator out)
{
    for (int round = 0; round < 5000; round++)
        for (const auto &w : words)
            if (!w.empty() && w.front() == first)
                *out = *out + 1;
}

int main()
{
    std::vector<std::string> words;
    for (int i = 0; i < 100; i++)
        words.push_back(std::string(1, static_cast<char>('a' + i % 4)) + std::to_string(i));
    alignas(32) Counts found{};
    std::array<std::future<void>, 4> tasks;
    auto out = found.begin();
    for (int i = 0; i < 4; i++, ++out)
        tasks[i] = std::async(std::launch::async, countPrefix, std::cref(words),
                              static_cast<char>('a' + i), out);
    for (auto &t : tasks)
        t.get();
    size_t n = 0;
    for (auto v : found)
        n += v;
    std::printf("%zu\n", n);
}
