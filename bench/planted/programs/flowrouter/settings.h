// What can be set, and the log.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

struct Settings {
    std::uint32_t mtu = 1500;
    std::uint32_t min_ttl = 2;
    std::uint32_t lease_every = 16;
    std::uint32_t export_every = 4;
    bool nat = true;
    std::atomic<std::uint32_t> revision{1};     // control counts it up when it has looked at them again
};

extern Settings settings;
bool read_settings(int argc, char **argv, long &rounds);

class Log {
public:
    enum class Level { Error, Warning, Info };
    void write(Level level, const std::string &text);
    void flush();
    static Log &instance();

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
    std::size_t lost_ = 0;
};
