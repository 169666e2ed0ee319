#pragma once
#include <cstdint>

struct Event {
    uint32_t source;
    uint16_t kind;
    uint16_t flags;
    uint64_t stamp;
    double value;
};
