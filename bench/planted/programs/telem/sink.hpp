#pragma once
#include "event.hpp"
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

class Sink {
public:
    explicit Sink(const char *name) : name_(name) {}
    virtual ~Sink() = default;

    // on the thread of the worker that owns it
    virtual void accept(const Event &e) = 0;
    // on the reporter's thread
    virtual double sample() = 0;

    const char *name() const { return name_; }
    void configure(double threshold, bool enabled) {
        threshold_ = threshold;
        enabled_ = enabled;
    }
    void probe(const char *which) const;

    static uint64_t dispatched;          // ingest thread
    static std::atomic<uint64_t> polled; // reporter
    static std::atomic<int> alive;

protected:
    const char *name_;
    uint64_t accepted_ = 0; // worker
    double threshold_ = 0;
    bool enabled_ = true;
    uint64_t samples_ = 0; // reporter
};

class CounterSink final : public Sink {
public:
    using Sink::Sink;
    void accept(const Event &e) override;
    double sample() override;

private:
    double sum_ = 0;
};

class GaugeSink final : public Sink {
public:
    using Sink::Sink;
    void accept(const Event &e) override;
    double sample() override;

private:
    std::mutex lock_; // worker and reporter both, for the pair below
    double last_ = 0;
    uint64_t stamp_ = 0;
    uint64_t overflow_ = 0;
};

class HistogramSink final : public Sink {
public:
    using Sink::Sink;
    void accept(const Event &e) override;
    double sample() override;

private:
    alignas(64) std::array<uint32_t, 32> bins_{};
};

std::unique_ptr<Sink> makeSink(const std::string &kind);
