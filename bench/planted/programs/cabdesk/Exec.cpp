#include "Exec.h"

namespace nimble {

namespace {

thread_local unsigned t_crewNumber = MaxCrew;

// Strand switches of each crew member, by number.
std::uint16_t s_switches[MaxCrew];
// The strand that each crew member ran last.
std::uint16_t s_lastStrand[MaxCrew];
// Crew members that have reported for work; at the start only.
std::atomic<unsigned> s_mustered{0};

}  // namespace

unsigned crewNumber() { return t_crewNumber; }

Executor::Executor(unsigned crew) : m_crewSize(crew), m_executed(crew, 0) {
    m_crew.reserve(crew);
    for (unsigned i = 0; i < crew; ++i)
        m_crew.emplace_back([this, i] { work(i); });
}

Executor::~Executor() { stop(); }

void Executor::post(Task task) {
    m_pending.fetch_add(1, std::memory_order_relaxed);
    {
        std::lock_guard<std::mutex> hold(m_lock);
        m_tasks.push_back(std::move(task));
    }
    m_ready.notify_one();
}

void Executor::drain() {
    while (m_pending.load(std::memory_order_acquire) != 0)
        std::this_thread::yield();
}

void Executor::stop() {
    {
        std::lock_guard<std::mutex> hold(m_lock);
        if (m_stopping)
            return;
        m_stopping = true;
    }
    m_ready.notify_all();
    for (auto& t : m_crew)
        t.join();
}

std::uint64_t Executor::executed() const {
    std::uint64_t sum = 0;
    for (auto n : m_executed)
        sum += n;
    return sum;
}

void Executor::work(unsigned number) {
    t_crewNumber = number;
    s_mustered.fetch_add(1, std::memory_order_relaxed);
    for (;;) {
        Task task;
        {
            std::unique_lock<std::mutex> hold(m_lock);
            while (m_tasks.empty() && !m_stopping) {
                ++m_naps;
                m_ready.wait(hold);
            }
            if (m_tasks.empty())
                return;
            task = std::move(m_tasks.front());
            m_tasks.pop_front();
        }
        task();
        m_executed[number] += m_batch;
        m_pending.fetch_sub(1, std::memory_order_release);
    }
}

void Strand::post(Task task) {
    bool wake = false;
    {
        std::lock_guard<std::mutex> hold(m_guard);
        m_waiting.push_back(std::move(task));
        if (!m_active)
            wake = m_active = true;
    }
    m_backlog.fetch_add(1, std::memory_order_relaxed);
    if (wake)
        m_executor.post([this] { runSome(); });
}

void Strand::runSome() {
    const unsigned me = crewNumber();
    if (s_lastStrand[me] != m_id) {
        s_lastStrand[me] = static_cast<std::uint16_t>(m_id);
        ++s_switches[me];
    }
    for (unsigned turn = 0; turn < 4; ++turn) {
        Task task;
        {
            std::lock_guard<std::mutex> hold(m_guard);
            if (m_waiting.empty()) {
                m_active = false;
                return;
            }
            task = std::move(m_waiting.front());
            m_waiting.pop_front();
        }
        task();
        ++m_served;
        m_backlog.fetch_sub(1, std::memory_order_relaxed);
    }
    m_executor.post([this] { runSome(); });
}

}  // namespace nimble
