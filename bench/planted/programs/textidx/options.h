#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace tx {

struct Options {
    std::uint32_t min_length = 2;
    std::uint32_t max_terms = 12;
    std::uint32_t top = 4;
    std::uint32_t note_every = 4;
    std::atomic<std::uint64_t> documents{0};    // that went through the indexers

    static Options current;
};

extern int trace_level;
void trace(const std::string &text);
void print_trace();
bool parse_options(int argc, char **argv, long &rounds);

} // namespace tx
