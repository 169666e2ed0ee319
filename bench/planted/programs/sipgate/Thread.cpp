// Thread.cpp : start, watchdog, logger and globals
#include "Thread.h"

SConfig               g_Config;
SServerStats          g_Stats;
SLoopCounters         g_Loops[8];
std::atomic<unsigned> g_nTickMs{1};
unsigned              g_nTraceMask = 0x80000000u;
unsigned              g_nMaxCalls = 1u << 30;
bool                  g_bTalking[MAX_CHANNELS];
alignas(64) std::atomic<bool> g_bShutdown{false};

std::mutex               CLogger::s_Lock;
std::vector<std::string> CLogger::s_Lines;

void CLogger::Write(const char* pszText)
{
    std::lock_guard<std::mutex> Guard(s_Lock);
    if (s_Lines.size() < 500)
        s_Lines.push_back(pszText);
}

size_t CLogger::Lines()
{
    std::lock_guard<std::mutex> Guard(s_Lock);
    return s_Lines.size();
}

void CStartGate::Open()
{
    std::lock_guard<std::mutex> Guard(m_Lock);
    m_bOpen = true;
    m_Opened.notify_all();
}

void CStartGate::Wait()
{
    std::unique_lock<std::mutex> Guard(m_Lock);
    while (!m_bOpen)
        m_Opened.wait(Guard);
}

void CThread::Start(CStartGate& rGate)
{
    m_Thread = std::thread([this, &rGate] {
        rGate.Wait();
        Run();
    });
}

void CThread::Check(unsigned nNow)
{
    const unsigned nBeats = m_nBeats.load(std::memory_order_relaxed);
    if (nBeats == m_nLastBeats && nNow - m_nCheckedAt > 1000000u)
        ++m_nStalls;
    m_nLastBeats = nBeats;
    m_nCheckedAt = nNow;
}
