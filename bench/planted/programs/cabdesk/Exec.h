#pragma once
// An executor with a fixed crew, strands on top of it, and signals: what the
// rest of the program is built from.
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace nimble {

using Task = std::function<void()>;

constexpr unsigned MaxCrew = 4;

/// The number of the calling crew member, or MaxCrew outside of the crew.
unsigned crewNumber();

class Executor {
public:
    explicit Executor(unsigned crew);
    ~Executor();
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    void post(Task task);
    /// Waits until all that was posted has run.
    void drain();
    void stop();

    unsigned crewSize() const { return m_crewSize; }
    std::uint64_t executed() const;
    std::uint32_t naps() const { return m_naps; }

private:
    void work(unsigned number);

    // Guarded by m_lock, all of them.
    std::mutex m_lock;
    std::condition_variable m_ready;
    std::deque<Task> m_tasks;
    bool m_stopping = false;
    std::uint32_t m_naps = 0;

    // Not guarded.
    unsigned m_crewSize;
    unsigned m_batch = 1;
    std::atomic<std::uint32_t> m_pending{0};
    std::vector<std::uint32_t> m_executed;
    std::vector<std::thread> m_crew;
};

/// Runs what is posted to it in order, one at a time, on any crew member.
class Strand {
public:
    Strand(Executor& executor, unsigned id) : m_executor(executor), m_id(id) {}

    void post(Task task);
    unsigned id() const { return m_id; }
    std::uint32_t served() const { return m_served; }
    std::uint32_t backlog() const { return m_backlog.load(std::memory_order_relaxed); }

private:
    void runSome();

    Executor& m_executor;
    unsigned m_id;
    std::uint32_t m_served = 0;               // whoever runs the strand
    std::atomic<std::uint32_t> m_backlog{0};  // posters and runners
    std::mutex m_guard;
    std::deque<Task> m_waiting;
    bool m_active = false;
};

template <typename... Args>
class Signal {
public:
    using Slot = std::function<void(Args...)>;

    void connect(Slot slot) { m_slots.push_back(std::move(slot)); }

    void emit(Args... args) {
        m_emitted.fetch_add(1, std::memory_order_relaxed);
        for (auto& slot : m_slots)
            slot(args...);
    }

    std::uint32_t emitted() const { return m_emitted.load(std::memory_order_relaxed); }

private:
    std::vector<Slot> m_slots;                // connected before the start
    std::atomic<std::uint32_t> m_emitted{0};  // all emitters
};

}  // namespace nimble
