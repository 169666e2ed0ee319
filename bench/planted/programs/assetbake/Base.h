// Base.h
#ifndef ASSETBAKE_BASE_H
#define ASSETBAKE_BASE_H

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace bake {

class NonCopyable {
protected:
    NonCopyable() = default;
    ~NonCopyable() = default;

private:
    NonCopyable(const NonCopyable&) = delete;
    NonCopyable& operator=(const NonCopyable&) = delete;
};

// Intrusive reference counts.
class RefBase : private NonCopyable {
public:
    void incRef() { mRefs.fetch_add(1, std::memory_order_relaxed); }
    void decRef()
    {
        if (mRefs.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete this;
    }
    int32_t refs() const { return mRefs.load(std::memory_order_relaxed); }

protected:
    virtual ~RefBase() = default;

private:
    std::atomic<int32_t> mRefs{0};
};

template <class T>
class sp {
public:
    sp() = default;
    sp(T* p) : mPtr(p)
    {
        if (mPtr)
            mPtr->incRef();
    }
    sp(const sp& o) : sp(o.mPtr) {}
    sp(sp&& o) noexcept : mPtr(o.mPtr) { o.mPtr = nullptr; }
    sp& operator=(sp o) noexcept
    {
        std::swap(mPtr, o.mPtr);
        return *this;
    }
    ~sp()
    {
        if (mPtr)
            mPtr->decRef();
    }
    T* get() const { return mPtr; }
    T* operator->() const { return mPtr; }
    T& operator*() const { return *mPtr; }
    explicit operator bool() const { return mPtr != nullptr; }

private:
    T* mPtr = nullptr;
};

class Counter : private NonCopyable {
public:
    void add(uint64_t v) { mTotal.fetch_add(v, std::memory_order_relaxed); }
    uint64_t total() const { return mTotal.load(std::memory_order_relaxed); }

private:
    std::atomic<uint64_t> mTotal{0};
};

// Names are looked up once, by whoever keeps the pointer.
class Metrics : private NonCopyable {
public:
    static Metrics& instance();
    Counter* counter(const std::string& name);
    void print() const;

private:
    Metrics() = default;
    mutable std::mutex mTableLock;
    std::map<std::string, Counter*> mTable;
};

class Log : private NonCopyable {
public:
    static Log& instance();
    void write(const char* what, unsigned arg);
    unsigned lines() const { return mLines; }

private:
    Log() = default;
    std::mutex mLogLock;
    unsigned mLines = 0;
    unsigned mWrapped = 0;
    char mText[8][48] = {};
};

// Coarse time, advanced by the monitor.
class Clock {
public:
    static Clock& instance();
    uint32_t now() const { return mNow.load(std::memory_order_relaxed); }
    void advance() { mNow.fetch_add(mResolution, std::memory_order_relaxed); }

private:
    std::atomic<uint32_t> mNow{0};
    uint32_t mResolution = 1;
};

uint32_t nextSerial();

struct Options {
    std::string mSource = "/srv/assets";
    std::string mTarget = "/srv/baked";
    unsigned mWorkers = 3;
    unsigned mCooks = 2;
    unsigned mRounds = 1000;
    bool mVerbose = false;
};

}  // namespace bake

#endif
