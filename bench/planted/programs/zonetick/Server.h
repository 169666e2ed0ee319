// Server.h - the threads
#pragma once

#include "World.h"

// A thread that is started, asked to stop and joined.
class ServerThread
{
public:
	explicit ServerThread(const char* name) : m_threadName(name) {}
	virtual ~ServerThread() = default;
	void Start() { m_thread = std::thread([this] { Main(); }); }
	void Join() { if (m_thread.joinable()) m_thread.join(); }
	uint32 Heartbeat() const noexcept { return m_heartbeat.load(std::memory_order_relaxed); }
	const char* Name() const noexcept { return m_threadName; }
	void NoteSeen(uint32 beat) noexcept { m_seenBeat = beat; }
	uint32 SeenBeat() const noexcept { return m_seenBeat; }

protected:
	virtual void Main() = 0;
	void Beat() noexcept { m_heartbeat.store(m_heartbeat.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

private:
	const char*         m_threadName;
	std::thread         m_thread;
	std::atomic<uint32> m_heartbeat{0};
	uint32              m_seenBeat = 0;     // watchdog
};

class ZoneWorker final : public ServerThread
{
public:
	ZoneWorker(World& world, int id) : ServerThread("worker"), m_world(world), m_workerId(id) {}

protected:
	void Main() override;

private:
	World&    m_world;
	const int m_workerId;
	uint32    m_sweeps = 0;
};

class Gateway final : public ServerThread
{
public:
	Gateway(World& world, int id) : ServerThread("gateway"), m_world(world), m_gatewayId(id) {}
	static uint64 PacketsTotal();

protected:
	void Main() override;

private:
	uint32 Next(Player& p) noexcept;
	World&    m_world;
	const int m_gatewayId;
	uint32    m_backlogs = 0;
};

class Replicator final : public ServerThread
{
public:
	explicit Replicator(World& world) : ServerThread("replicator"), m_world(world) {}
	uint64 Bytes() const noexcept { return m_bytesSent; }

protected:
	void Main() override;

private:
	World&              m_world;
	std::vector<uint32> m_known;
	uint64              m_bytesSent = 0;
};

class Watchdog final : public ServerThread
{
public:
	explicit Watchdog(std::vector<ServerThread*>& all) : ServerThread("watchdog"), m_watched(all) {}

protected:
	void Main() override;

private:
	std::vector<ServerThread*>& m_watched;
	uint32                      m_stalls = 0;
};

class Server
{
public:
	Server();
	int Run();

private:
	World                                      m_world;
	std::vector<std::unique_ptr<ServerThread>> m_threads;
	std::vector<ServerThread*>                 m_watched;
};
