// The router: workers, the control thread, the exporter.
#pragma once

#include "elements.h"

#include <condition_variable>
#include <thread>

class StartGate {
public:
    explicit StartGate(int wanted) : wanted_(wanted) {}
    void arrive();

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int wanted_;
};

struct WorkerCounters {
    void count(bool lost)
    {
        packets++;
        if (lost)
            dropped++;
    }
    std::uint64_t packets = 0;
    std::uint64_t dropped = 0;
};

struct alignas(kLine) WorkerTimes {
    std::uint64_t busy = 0;
    std::uint64_t idle = 0;
};

// Messages from control to one worker.
class Mailbox {
public:
    bool post(std::uint32_t m);
    bool take(std::uint32_t &m);

private:
    std::atomic<std::uint32_t> posted_{0};
    std::atomic<std::uint32_t> taken_{0};
    std::array<std::uint32_t, 12> slots_{};
};

struct Backoff {
    std::uint32_t step = 1;
    std::uint32_t spins = 0;
};

class Router {
public:
    explicit Router(long rounds);
    ~Router();
    void run();
    void report() const;

private:
    void warm_up();
    void worker(int id);
    void control();
    void exporter();

    long rounds_;
    Fabric fabric_;
    StartGate gate_{kWorkers + 2};
    std::vector<std::vector<std::unique_ptr<Element>>> chains_;
    std::vector<WorkerCounters> counters_;
    std::vector<WorkerTimes> times_;
    std::vector<std::unique_ptr<Backoff>> backoffs_;
    std::vector<std::unique_ptr<Mailbox>> mailboxes_;
    std::vector<std::uint64_t> warm_;
    std::vector<std::thread> threads_;

    // Looked at by the workers, counted by control.
    struct alignas(kLine) Supervision {
        std::atomic<bool> drain{false};
        std::atomic<std::uint32_t> limit{1u << 30};
        std::uint64_t ticks = 0;
        std::uint64_t late = 0;
    } supervision_;

    // The exporter's own.
    struct alignas(kLine) Export {
        std::uint64_t records = 0;
        std::uint64_t packets = 0;
        std::uint32_t digest = 0;
    } export_;
};
