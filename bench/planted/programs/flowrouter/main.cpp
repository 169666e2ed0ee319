// flowrouter ROUNDS [NAME=VALUE]...
#include "router.h"
#include "settings.h"

#include <cstdlib>
#include <exception>
#include <iostream>

int main(int argc, char **argv)
{
    long rounds = 0;
    if (!read_settings(argc, argv, rounds))
        return 2;
    try {
        Router router(rounds);
        router.run();
        router.report();
    } catch (const std::exception &e) {
        std::cerr << "flowrouter: " << e.what() << "\n";
        Log::instance().flush();
        return 1;
    }
    Log::instance().flush();
    return 0;
}

alignas(64) Settings settings;

namespace {

struct Field {
    const char *name;
    std::uint32_t Settings::*member;
    std::uint32_t low, high;
};

const Field fields[] = {
    {"mtu", &Settings::mtu, 576, 9000},
    {"min-ttl", &Settings::min_ttl, 1, 64},
    {"lease-every", &Settings::lease_every, 1, 4096},
    {"export-every", &Settings::export_every, 1, 4096},
};

bool set(const std::string &text)
{
    auto eq = text.find('=');
    if (eq == std::string::npos)
        return text == "no-nat" ? (settings.nat = false, true) : false;
    for (const Field &f : fields) {
        if (text.compare(0, eq, f.name) != 0)
            continue;
        char *end = nullptr;
        unsigned long v = std::strtoul(text.c_str() + eq + 1, &end, 10);
        if (*end || v < f.low || v > f.high)
            return false;
        settings.*f.member = std::uint32_t(v);
        return true;
    }
    return false;
}

} // namespace

bool read_settings(int argc, char **argv, long &rounds)
{
    rounds = 500;
    if (argc > 1) {
        char *end = nullptr;
        rounds = std::strtol(argv[1], &end, 10);
        if (*end || rounds <= 0) {
            std::cerr << "usage: " << argv[0] << " ROUNDS [NAME=VALUE]...\n";
            return false;
        }
    }
    for (int i = 2; i < argc; i++)
        if (!set(argv[i])) {
            std::cerr << "bad setting: " << argv[i] << "\n";
            return false;
        }
    return true;
}

Log &Log::instance()
{
    static Log log;
    return log;
}

void Log::write(Level level, const std::string &text)
{
    std::lock_guard<std::mutex> hold(mutex_);
    if (lines_.size() >= 100) {
        lost_++;
        return;
    }
    lines_.push_back((level == Level::Error ? "error: " : level == Level::Warning ? "warning: " : "") + text);
}

void Log::flush()
{
    std::lock_guard<std::mutex> hold(mutex_);
    for (const auto &l : lines_)
        std::cerr << l << "\n";
    if (lost_)
        std::cerr << "(" << lost_ << " more)\n";
    lines_.clear();
    lost_ = 0;
}
