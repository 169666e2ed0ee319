#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace bourse {

enum class Side : uint8_t { Buy, Sell };

struct OrderMsg {
    uint64_t id;
    uint32_t price;
    uint16_t quantity;
    uint16_t account;
    uint16_t instrument;
    uint8_t session;
    Side side;
};

struct Settings {
    unsigned gateways = 2;
    unsigned matchers = 2;
    unsigned instruments = 12;
    unsigned accounts = 40;
    unsigned orders = 1000000;  // of each gateway
    unsigned batch = 6;
    unsigned seed = 5;
    bool verbose = false;
};

// numbers that must be unique in the whole exchange
namespace sequence {
inline std::atomic<uint64_t> nextOrder{1};
inline std::atomic<uint64_t> nextTrade{1};
}  // namespace sequence

class Random {
public:
    explicit Random(uint32_t seed) : state_(seed * 747796405u + 2891336453u) {}
    uint32_t operator()()
    {
        state_ = state_ * 1664525u + 1013904223u;
        return state_ >> 7;
    }

private:
    uint32_t state_;
};

}  // namespace bourse
