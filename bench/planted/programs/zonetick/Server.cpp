#include "Server.h"

#include <chrono>
#include <csignal>

namespace
{
struct GatewayCounters
{
	uint32 m_packets;
	uint32 m_dropped;
};
std::vector<GatewayCounters> s_gatewayCounters;
std::atomic<uint32>          s_nextSequence{1};
uint32                       s_packetLimit = 1200;
std::atomic<uint32>          s_malformed{0};
std::atomic<uint32>          s_zoneCursor{0};

void OnSignal(int)
{
	g_shutdown.store(true);
}
}

// -------------------------------------------------------------- ZoneWorker

void ZoneWorker::Main()
{
	tl_workerId = m_workerId;
	while (!g_shutdown.load(std::memory_order_relaxed))
	{
		g_workerAwake[m_workerId] = 1;
		for (int i = 0; i < 2; ++i)
		{
			const uint32 z = s_zoneCursor.fetch_add(1, std::memory_order_relaxed) % kZones;
			Zone& zone = m_world.ZoneAt(static_cast<int>(z));
			if (!zone.TryEnter())
			{
				ZT_STAT(zonesBusy);
				continue;
			}
			zone.Tick();
			zone.Leave();
			ZT_STAT(zonesRun);
		}
		++m_sweeps;
		Beat();
		g_workerAwake[m_workerId] = 0;
		std::this_thread::yield();
	}
}

// ----------------------------------------------------------------- Gateway

uint32 Gateway::Next(Player& p) noexcept
{
	p.m_seed = p.m_seed * 1103515245u + 12345u;
	return p.m_seed >> 8;
}

void Gateway::Main()
{
	GatewayCounters& counters = s_gatewayCounters[static_cast<size_t>(m_gatewayId)];
	const uint32 rounds = g_config.rounds;

	for (uint32 r = 0; r < rounds && !g_shutdown.load(std::memory_order_relaxed); ++r)
	{
		for (int p = m_gatewayId; p < kPlayers; p += g_config.gateways)
		{
			Player& player = m_world.PlayerAt(p);
			const uint32 v = Next(player);
			Command c{static_cast<uint16>(player.m_playerId), static_cast<uint16>(v % 3), static_cast<int32>(v >> 3 & 0xff)};
			const uint32 size = 12 + (v & 63);

			if (size > s_packetLimit)
			{
				s_malformed.fetch_add(1);
				continue;
			}
			s_nextSequence.fetch_add(1, std::memory_order_relaxed);
			if (m_world.ZoneAt(static_cast<int>(player.m_zone)).Inbox(m_gatewayId).Post(c))
			{
				++player.m_commandsSent;
				++counters.m_packets;
			}
			else
			{
				++m_backlogs;
				std::this_thread::yield();
			}
		}
		Beat();
	}
	g_gatewaysLeft.fetch_sub(1);
}

uint64 Gateway::PacketsTotal()
{
	uint64 n = 0;
	for (const GatewayCounters& c : s_gatewayCounters)
		n += c.m_packets;
	return n;
}

// -------------------------------------------------------------- Replicator

void Replicator::Main()
{
	m_known.resize(kPlayers);
	while (!g_shutdown.load(std::memory_order_relaxed))
	{
		for (int p = 0; p < kPlayers; ++p)
		{
			Player& player = m_world.PlayerAt(p);
			Zone& zone = m_world.ZoneAt(static_cast<int>(player.m_zone));
			const uint32 tick = zone.TickCount();

			if (tick == m_known[static_cast<size_t>(p)])
				continue;
			m_known[static_cast<size_t>(p)] = tick;
			m_bytesSent += 8 + zone.ViewRadius();
			player.m_ackedTick = tick;
			zone.Acknowledge(tick);
		}
		Beat();
		std::this_thread::yield();
	}
}

// ---------------------------------------------------------------- Watchdog

void Watchdog::Main()
{
	while (g_gatewaysLeft.load(std::memory_order_relaxed) > 0)
	{
		const uint32 t = g_worldTime.load(std::memory_order_relaxed) + 1;
		g_worldTime.store(t, std::memory_order_relaxed);
		for (ServerThread* s : m_watched)
		{
			const uint32 beat = s->Heartbeat();
			if (beat == s->SeenBeat())
				++m_stalls;
			s->NoteSeen(beat);
		}
		std::this_thread::sleep_for(std::chrono::microseconds(40));
	}
	g_shutdown.store(true);
}

// ------------------------------------------------------------------ Server

Server::Server()
{
	s_gatewayCounters.resize(static_cast<size_t>(g_config.gateways));
	for (int i = 0; i < g_config.workers; ++i)
		m_threads.push_back(std::make_unique<ZoneWorker>(m_world, i));
	for (int i = 0; i < g_config.gateways; ++i)
		m_threads.push_back(std::make_unique<Gateway>(m_world, i));
	m_threads.push_back(std::make_unique<Replicator>(m_world));
	for (auto& t : m_threads)
		m_watched.push_back(t.get());
	m_threads.push_back(std::make_unique<Watchdog>(m_watched));
	g_gatewaysLeft = g_config.gateways;
}

int Server::Run()
{
	std::signal(SIGINT, OnSignal);
	std::signal(SIGTERM, OnSignal);
	for (auto& t : m_threads)
		t->Start();
	for (auto& t : m_threads)
		t->Join();
	uint32 run = 0, busy = 0, commands = 0;
	for (int i = 0; i < g_config.workers; ++i)
	{
		run += g_workerMetrics[i].zonesRun;
		busy += g_workerMetrics[i].zonesBusy;
		commands += g_workerMetrics[i].commands;
	}
	m_world.Report();
	ZT_LOG(1, "%u zone ticks, %u busy, world time %u, %u malformed", run, busy, g_worldTime.load(), s_malformed.load());
	std::printf("%llu packets, %u commands\n", static_cast<unsigned long long>(Gateway::PacketsTotal()), commands);
	return commands == 0;
}
