#include <array>
#include <cstdio>
#include <future>
#include <string>
#include <vector>

static size_t countPrefix(const std::vector<std::string> &words, char first)
{
    size_t n = 0;
    for (int round = 0; round < 5000; round++)
        for (const auto &w : words)
            if (!w.empty() && w.front() == first)
                n += w.size() > 1;
    return n;
}

int main()
{
    std::vector<std::string> words;
    for (int i = 0; i < 100; i++)
        words.push_back(std::string(1, static_cast<char>('a' + i % 4)) + std::to_string(i));
    std::array<size_t, 4> found{};
    std::array<std::future<size_t>, 4> tasks;
    for (int i = 0; i < 4; i++)
        tasks[i] = std::async(std::launch::async, countPrefix, std::cref(words),
                              static_cast<char>('a' + i));
    for (int i = 0; i < 4; i++)
        found[i] = tasks[i].get();
    size_t n = 0;
    for (auto v : found)
        n += v;
    std::printf("%zu\n", n);
}
