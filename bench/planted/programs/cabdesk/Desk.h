#pragma once
// The desk: takes calls, listens to what the town reports, keeps the books.
#include "Town.h"

#include <map>
#include <string>

namespace cabdesk {

struct DeskOptions {
    unsigned rides = 1000000;
    unsigned crew = 3;
    unsigned inspectEvery = 2;
    unsigned windowSize = 96;
    bool chatty = false;
};

/// Listens to finished rides; there is one for each class of car.
class Ledger {
public:
    explicit Ledger(std::uint16_t carClass) : m_wanted(carClass) {}
    void rideDone(const Ride& ride, std::uint32_t fare) {
        if (ride.carClass != m_wanted)
            return;
        m_rides.fetch_add(1, std::memory_order_relaxed);
        m_income.fetch_add(fare, std::memory_order_relaxed);
    }
    std::uint32_t rides() const { return m_rides.load(std::memory_order_relaxed); }
    std::uint64_t income() const { return m_income.load(std::memory_order_relaxed); }

private:
    std::uint32_t m_wanted;
    std::atomic<std::uint32_t> m_rides{0};
    std::atomic<std::uint64_t> m_income{0};
};

/// Names of the stands; looked up when the desk opens.
class StandRegistry {
public:
    static StandRegistry& get();
    unsigned find(const std::string& name);
    std::size_t size() const { return m_stands.size(); }

private:
    std::map<std::string, unsigned> m_stands;
    std::uint32_t m_lookups = 0;
};

/// Lost property and complaints; one lock, and rare.
class Complaints {
public:
    void file(std::uint32_t ride);
    std::size_t count();

private:
    std::mutex m_bookLock;
    std::vector<std::uint32_t> m_book;
};

/// Goes round the town on a thread of its own: inspects cabs, moves surges.
class MeterMan {
public:
    explicit MeterMan(const DeskOptions& options) : m_options(options) {}
    void start();
    void stop();
    std::uint32_t rounds() const { return m_rounds; }
    std::uint32_t seenTakings() const { return m_seenTakings; }

private:
    void walk();
    void visit(unsigned zone);

    const DeskOptions& m_options;
    std::uint32_t m_rounds = 0;
    std::uint32_t m_seenTakings = 0;
    std::atomic<bool> m_offDuty{false};
    std::thread m_legs;
};

/// At most so many calls are under way; the caller waits for the others.
class CallWindow {
public:
    explicit CallWindow(unsigned most) : m_free(most) {}
    void enter();
    void leave();

private:
    std::mutex m_door;
    std::condition_variable m_open;
    unsigned m_free;
};

class Desk {
public:
    explicit Desk(const DeskOptions& options);
    void open();
    void takeCalls();
    void close();
    void report();

private:
    Ride compose(unsigned number);

    DeskOptions m_options;
    std::uint32_t m_callSeed = 4711;        // the caller of takeCalls
    std::uint32_t m_callsTaken = 0;         // the same
    CallWindow m_window;                    // the caller and the crew
    std::uint32_t m_holdups = 0;            // never, with a crew
    std::array<std::unique_ptr<Ledger>, ClassCount> m_ledgers;
    std::array<std::uint32_t, ZoneCount> m_satisfied{};  // one for each strand
    Complaints m_complaints;
    nimble::Executor m_executor;
    MeterMan m_meterMan;
};

}  // namespace cabdesk
