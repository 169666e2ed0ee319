#pragma once

#include "matcher.hh"

#include <memory>
#include <vector>

namespace bourse {

class Gateway {
public:
    Gateway(Floor& floor, std::vector<std::unique_ptr<Matcher>>& matchers, unsigned index);

    void run();
    static unsigned throttled() { return throttled_; }

private:
    bool build(OrderMsg& o);
    void flush(unsigned matcher);

    static std::atomic<unsigned> throttled_;
    static std::atomic<unsigned> live_;

    Floor& floor_;
    std::vector<std::unique_ptr<Matcher>>& matchers_;
    Session& session_;
    std::vector<std::vector<OrderMsg>> pending_;
    uint32_t lastClock_ = 0;
    unsigned burst_ = 0;
};

}  // namespace bourse
