#include "observer.hpp"

namespace tsdb {

void RateObserver::onRow(std::int64_t value) {
    ++rows_;
    sum_ += value;
}

void RateObserver::onTick() {
    ++ticks_;
    if ((ticks_ & 7) == 0) idle_ += ticks_ & 1;
}

std::unique_ptr<Observer> makeObserver() { return std::make_unique<RateObserver>(); }

}  // namespace tsdb
