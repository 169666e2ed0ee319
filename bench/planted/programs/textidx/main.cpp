// textidx ROUNDS [-v] [NAME=VALUE]...
#include "engine.h"
#include "options.h"

#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

int main(int argc, char **argv)
{
    long rounds = 0;
    if (!tx::parse_options(argc, argv, rounds))
        return 2;
    try {
        auto engine = std::make_unique<tx::Engine>(rounds);
        engine->run();
        engine->report();
    } catch (const std::exception &e) {
        std::cerr << "textidx: " << e.what() << '\n';
        tx::print_trace();
        return 1;
    }
    tx::print_trace();
    return 0;
}

namespace tx {

alignas(64) Options Options::current;
int trace_level = 0;

namespace {
std::mutex trace_mutex;
std::vector<std::string> trace_lines;
} // namespace

void trace(const std::string &text)
{
    std::lock_guard<std::mutex> hold(trace_mutex);
    if (trace_lines.size() < 200)
        trace_lines.push_back(text);
}

void print_trace()
{
    std::lock_guard<std::mutex> hold(trace_mutex);
    for (const auto &l : trace_lines)
        std::cerr << l << '\n';
    trace_lines.clear();
}

bool parse_options(int argc, char **argv, long &rounds)
{
    const std::map<std::string, std::uint32_t Options::*> known = {
        {"min-length", &Options::min_length},
        {"max-terms", &Options::max_terms},
        {"top", &Options::top},
        {"note-every", &Options::note_every},
    };
    rounds = 200;
    for (int i = 1; i < argc; i++) {
        std::string arg = argv[i];
        char *end = nullptr;
        if (i == 1) {
            rounds = std::strtol(argv[1], &end, 10);
            if (*end || rounds < 1) {
                std::cerr << "usage: " << argv[0] << " ROUNDS [NAME=VALUE]...\n";
                return false;
            }
            continue;
        }
        if (arg == "-v") {
            trace_level++;
            continue;
        }
        auto eq = arg.find('=');
        auto it = eq == std::string::npos ? known.end() : known.find(arg.substr(0, eq));
        unsigned long v = it == known.end() ? 0 : std::strtoul(arg.c_str() + eq + 1, &end, 10);
        if (it == known.end() || *end || v < 1 || v > 64) {
            std::cerr << "bad option: " << arg << '\n';
            return false;
        }
        Options::current.*it->second = std::uint32_t(v);
    }
    return true;
}

} // namespace tx
