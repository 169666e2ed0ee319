#include "Core.h"

#include <cstdarg>

int                 Log::s_level = 1;
std::mutex          Log::s_mutex;
uint32              Log::s_lines = 0;
WorldConfig         g_config;
std::atomic<uint32> g_worldTime{0};
std::atomic<bool>   g_shutdown{false};
std::atomic<int32>  g_gatewaysLeft{0};
WorkerMetrics       g_workerMetrics[kMaxWorkers];
TickTimes           g_tickTimes[kMaxWorkers];
uint8               g_workerAwake[kMaxWorkers];
thread_local int    tl_workerId = 0;

void Log::Write(int level, const char* fmt, ...)
{
	static const char* const names[] = {"ERROR", "INFO", "DEBUG"};
	std::lock_guard<std::mutex> guard(s_mutex);
	va_list ap;
	va_start(ap, fmt);
	std::fprintf(stderr, "[%s] ", names[level < 0 || level > 2 ? 2 : level]);
	std::vfprintf(stderr, fmt, ap);
	std::fputc('\n', stderr);
	va_end(ap);
	++s_lines;
}

namespace
{
struct ConfigKey
{
	const char* name;
	int32 WorldConfig::*where;
	int32 low, high;
};

const ConfigKey s_keys[] = {
	{"tick_rate", &WorldConfig::tickRate, 1, 120},
	{"max_speed", &WorldConfig::maxSpeed, 1, 100},
	{"gravity", &WorldConfig::gravity, 0, 50},
	{"workers", &WorldConfig::workers, 1, kMaxWorkers},
	{"gateways", &WorldConfig::gateways, 1, kMaxGateways},
};
}

bool ParseConfig(const char* text)
{
	std::string all(text);
	size_t pos = 0;
	bool ok = true;
	while (pos < all.size())
	{
		size_t eol = all.find('\n', pos);
		if (eol == std::string::npos)
			eol = all.size();
		const std::string line = all.substr(pos, eol - pos);
		pos = eol + 1;
		if (line.empty() || line[0] == '#')
			continue;
		const size_t eq = line.find(" = ");
		bool found = false;
		for (const ConfigKey& k : s_keys)
		{
			if (eq == std::string::npos || line.compare(0, eq, k.name) != 0)
				continue;
			const int32 v = std::atoi(line.c_str() + eq + 3);
			found = v >= k.low && v <= k.high;
			if (found)
				g_config.*(k.where) = v;
		}
		if (!found)
		{
			ZT_LOG(0, "config: cannot use \"%s\"", line.c_str());
			ok = false;
		}
	}
	return ok;
}
