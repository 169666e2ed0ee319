#pragma once
#include "queue.hpp"
#include "sink.hpp"
#include <thread>
#include <vector>

// one of these for all; the ticker moves it on
struct Window {
    uint64_t epoch = 0; // ticker
    uint64_t width = 4096;
    std::atomic<uint64_t> events{0}; // workers
    uint64_t late = 0;
};

struct Context {
    Window *window = nullptr;
    const char *host = "localhost";
};

struct WorkerSlot {
    uint64_t handled = 0;
    double total = 0;
};

class Aggregator {
public:
    explicit Aggregator(unsigned workers);
    ~Aggregator();
    void run(long rounds);
    void report() const;
    void probe() const;

private:
    void ingest(long rounds);
    void work(unsigned id);
    void tick();
    void poll();

    std::vector<std::unique_ptr<EventQueue>> queues_;
    std::vector<std::unique_ptr<Sink>> sinks_;
    std::vector<WorkerSlot> slots_;
    std::unique_ptr<Context> context_;
    uint64_t ingested_ = 0;             // ingest
    std::atomic<uint64_t> filtered_{0}; // workers
    uint64_t polls_ = 0;                // reporter
    uint64_t stalls_ = 0;               // ingest, where a queue is full
    std::atomic<bool> stop_{false};
    double level_ = 0;
    std::string title_ = "telemetry";
};
