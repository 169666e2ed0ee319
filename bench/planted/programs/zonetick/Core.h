// Core.h - what every part of the server uses
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using uint8  = std::uint8_t;
using uint16 = std::uint16_t;
using uint32 = std::uint32_t;
using int32  = std::int32_t;
using uint64 = std::uint64_t;

constexpr int kMaxWorkers   = 4;
constexpr int kMaxGateways  = 2;
constexpr int kZones        = 6;
constexpr int kZoneEntities = 8;
constexpr int kPlayers      = 12;

#define ZT_LOG(lvl, ...) do { if ((lvl) <= Log::s_level) Log::Write((lvl), __VA_ARGS__); } while (0)
#define ZT_ASSERT(c) do { if (!(c)) { Log::Write(0, "assertion failed: %s (%s:%d)", #c, __FILE__, __LINE__); std::abort(); } } while (0)
#define ZT_STAT(name) (++g_workerMetrics[tl_workerId].name)

class Log
{
public:
	static void Write(int level, const char* fmt, ...) __attribute__((format(printf, 2, 3)));
	static int s_level;

private:
	static std::mutex s_mutex;
	static uint32     s_lines;
};

// Values from the configuration; the clock keeps its own variables next to them.
struct WorldConfig
{
	int32  tickRate      = 30;
	int32  maxSpeed      = 12;
	int32  gravity       = 3;
	uint32 rounds        = 400000;
	int32  workers       = 3;
	int32  gateways      = 2;
	char   mapName[24]   = "harbour";
};

struct WorkerMetrics
{
	uint32 zonesRun;
	uint32 zonesBusy;
	uint32 commands;
	uint32 hits;
};

// Kept by each worker for itself, a line each.
struct alignas(64) TickTimes
{
	uint32 m_samples;
	uint32 m_entitiesMoved;
	uint64 m_weight;
};

// The intrusive reference count of shared, otherwise constant data.
class RefCounted
{
public:
	void AddRef() const noexcept { m_refs.fetch_add(1, std::memory_order_relaxed); }
	bool Release() const noexcept { return m_refs.fetch_sub(1, std::memory_order_acq_rel) == 1; }

protected:
	mutable std::atomic<int32> m_refs{0};
};

template <class T>
class Ref
{
public:
	Ref() = default;
	explicit Ref(T* p) : m_ptr(p) { if (m_ptr) m_ptr->AddRef(); }
	Ref(const Ref& o) : m_ptr(o.m_ptr) { if (m_ptr) m_ptr->AddRef(); }
	Ref& operator=(const Ref& o)
	{
		Ref t(o);
		std::swap(m_ptr, t.m_ptr);
		return *this;
	}
	~Ref() { if (m_ptr && m_ptr->Release()) delete m_ptr; }
	T* operator->() const noexcept { return m_ptr; }
	explicit operator bool() const noexcept { return m_ptr != nullptr; }

private:
	T* m_ptr = nullptr;
};

class SpinMutex
{
public:
	void lock() noexcept
	{
		while (m_locked.exchange(1, std::memory_order_acquire))
			std::this_thread::yield();
	}
	void unlock() noexcept { m_locked.store(0, std::memory_order_release); }

private:
	std::atomic<uint32> m_locked{0};
};

extern WorldConfig         g_config;
extern std::atomic<uint32> g_worldTime;
extern std::atomic<bool>   g_shutdown;
extern WorkerMetrics       g_workerMetrics[kMaxWorkers];
extern TickTimes           g_tickTimes[kMaxWorkers];
extern uint8               g_workerAwake[kMaxWorkers];
extern thread_local int    tl_workerId;
extern std::atomic<int32>  g_gatewaysLeft;

bool ParseConfig(const char* text);
