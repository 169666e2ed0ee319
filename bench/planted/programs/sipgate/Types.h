// Types.h : base types, clock and configuration of the gateway
#ifndef SIPGATE_TYPES_H
#define SIPGATE_TYPES_H

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

typedef uint8_t  BYTE8;
typedef uint16_t UINT16_;
typedef uint32_t UINT32_;

enum { MAX_CHANNELS = 16, MAX_MEDIA = 3, MAX_WORKERS = 2, JITTER_SLOTS = 16, PACKET_BYTES = 40 };

struct SConfig
{
    std::string strDomain = "gate.example";
    unsigned    nExpires = 3600;
    unsigned    nMaxForwards = 70;
    unsigned    nReportEvery = 4096;
};

// counted by everybody, shown by the housekeeper
struct SServerStats
{
    std::atomic<unsigned> nSipIn;
    std::atomic<unsigned> nInvites;
    unsigned              nRtpIn;       // receiver
    std::atomic<unsigned> nRtpOut;      // media threads
    unsigned              nMixed;       // mixer
    std::atomic<unsigned> nParseErrors;
};

// loops of a thread, each on its own line
struct alignas(64) SLoopCounters
{
    unsigned long nLoops;
    unsigned long nIdle;
};

extern SConfig              g_Config;
extern SServerStats         g_Stats;
extern SLoopCounters        g_Loops[8];
extern std::atomic<unsigned> g_nTickMs;
extern unsigned             g_nTraceMask;
extern unsigned             g_nMaxCalls;
extern bool                 g_bTalking[MAX_CHANNELS];
extern std::atomic<bool>    g_bShutdown;

class CSpinLock
{
public:
    void Lock()   { while (m_bHeld.exchange(true, std::memory_order_acquire)) std::this_thread::yield(); }
    void Unlock() { m_bHeld.store(false, std::memory_order_release); }
private:
    std::atomic<bool> m_bHeld{false};
};

class CAutoSpin
{
public:
    explicit CAutoSpin(CSpinLock& rLock) : m_rLock(rLock) { m_rLock.Lock(); }
    ~CAutoSpin() { m_rLock.Unlock(); }
private:
    CSpinLock& m_rLock;
};

class CLogger
{
public:
    static void Write(const char* pszText);
    static size_t Lines();
private:
    static std::mutex s_Lock;
    static std::vector<std::string> s_Lines;
};

inline void Rest() { std::this_thread::sleep_for(std::chrono::microseconds(30)); }

#endif
