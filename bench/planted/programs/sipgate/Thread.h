// Thread.h : base of all threads of the gateway
#ifndef SIPGATE_THREAD_H
#define SIPGATE_THREAD_H

#include "Types.h"

class CStartGate
{
public:
    void Open();
    void Wait();
private:
    std::mutex              m_Lock;
    std::condition_variable m_Opened;
    bool                    m_bOpen = false;
};

class CThread
{
public:
    explicit CThread(const char* pszName) : m_strName(pszName) {}
    virtual ~CThread() = default;

    void Start(CStartGate& rGate);
    void Join() { m_Thread.join(); }

    // called by the watchdog
    void Check(unsigned nNow);
    const std::string& Name() const { return m_strName; }
    unsigned Stalls() const { return m_nStalls; }

protected:
    virtual void Run() = 0;
    void Alive() { m_nBeats.store(m_nBeats.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

private:
    std::string m_strName;
    std::thread m_Thread;
    std::atomic<unsigned> m_nBeats{0};      // the thread itself
    unsigned    m_nLastBeats = 0;           // watchdog
    unsigned    m_nCheckedAt = 0;           // watchdog
    unsigned    m_nStalls = 0;
};

#endif
