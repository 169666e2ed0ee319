// Base.cpp
#include "Base.h"

#include <cstdio>

namespace bake {

Metrics& Metrics::instance()
{
    static Metrics sMetrics;
    return sMetrics;
}

Counter* Metrics::counter(const std::string& name)
{
    std::lock_guard<std::mutex> l(mTableLock);
    Counter*& c = mTable[name];
    if (!c)
        c = new Counter;
    return c;
}

void Metrics::print() const
{
    std::lock_guard<std::mutex> l(mTableLock);
    for (const auto& e : mTable)
        std::printf("  %s = %llu\n", e.first.c_str(), static_cast<unsigned long long>(e.second->total()));
}

Log& Log::instance()
{
    static Log sLog;
    return sLog;
}

void Log::write(const char* what, unsigned arg)
{
    std::lock_guard<std::mutex> l(mLogLock);
    std::snprintf(mText[mLines % 8], sizeof mText[0], "%s %u", what, arg);
    if (++mLines % 8 == 0)
        ++mWrapped;
}

Clock& Clock::instance()
{
    static Clock sClock;
    return sClock;
}

uint32_t nextSerial()
{
    static std::atomic<uint32_t> sSerial{1};
    return sSerial.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace bake
