// Who is told of rows as they come and of time as it passes.
#pragma once

#include <cstdint>
#include <memory>

namespace tsdb {

class Observer {
public:
    virtual ~Observer() = default;
    virtual void onRow(std::int64_t value) = 0;  // from the ingest thread
    virtual void onTick() = 0;                   // from the watcher
    virtual std::uint64_t rows() const = 0;
};

class RateObserver final : public Observer {
public:
    void onRow(std::int64_t value) override;
    void onTick() override;
    std::uint64_t rows() const override { return rows_; }

private:
    std::uint64_t rows_ = 0;
    std::int64_t sum_ = 0;
    std::uint64_t ticks_ = 0;
    std::uint64_t idle_ = 0;
};

std::unique_ptr<Observer> makeObserver();

}  // namespace tsdb
