#include "sink.hpp"
#include <cstdio>
#include <new>
#include <stdexcept>

std::atomic<int> Sink::alive{0};
uint64_t Sink::dispatched = 0;
std::atomic<uint64_t> Sink::polled{0};

void CounterSink::accept(const Event &e) {
    if (!enabled_ || e.value < threshold_)
        return;
    accepted_++;
    sum_ += e.value;
}

double CounterSink::sample() {
    samples_++;
    return threshold_ + static_cast<double>(samples_ & 7);
}

void GaugeSink::accept(const Event &e) {
    if (!enabled_)
        return;
    accepted_++;
    std::lock_guard<std::mutex> guard(lock_);
    last_ = e.value;
    stamp_ = e.stamp;
}

double GaugeSink::sample() {
    samples_++;
    std::lock_guard<std::mutex> guard(lock_);
    if (last_ > 1e9)
        overflow_++;
    return last_ + static_cast<double>(stamp_ & 1);
}

void HistogramSink::accept(const Event &e) {
    if (e.value < threshold_)
        return;
    accepted_++;
    bins_[static_cast<unsigned>(e.value) & 31]++;
}

double HistogramSink::sample() {
    samples_++;
    return threshold_;
}

std::unique_ptr<Sink> makeSink(const std::string &kind) {
    Sink::alive.fetch_add(1);
    if (kind == "counter")
        return std::make_unique<CounterSink>("counter");
    if (kind == "gauge")
        return std::make_unique<GaugeSink>("gauge");
    if (kind == "histogram")
        return std::make_unique<HistogramSink>("histogram");
    Sink::alive.fetch_sub(1);
    throw std::invalid_argument(kind);
}

void Sink::probe(const char *which) const {
#ifdef TRUTH_PROBE
    char id[32];
    std::snprintf(id, sizeof id, "%s.a", which);
    PROBE(id, &accepted_);
    std::snprintf(id, sizeof id, "%s.b", which);
    PROBE(id, &samples_);
#endif
    (void)which;
}
