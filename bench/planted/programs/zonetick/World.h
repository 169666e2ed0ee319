// World.h - zones, entities and what they refer to
#pragma once

#include "Core.h"

#include <array>
#include <memory>
#include <unordered_map>

// Shared by all zones of a map.
class NavMesh : public RefCounted
{
public:
	explicit NavMesh(uint32 seed);
	int32 Height(uint32 x, uint32 y) const noexcept { return m_cells[(y * 4 + x) & 15]; }
	uint32 Walkable() const noexcept { return m_walkMask; }

private:
	uint32                m_walkMask;
	std::array<uint8, 16> m_cells;
};

struct Entity
{
	uint32 m_entityId;
	int32  m_posX, m_posY;
	int16_t m_velX, m_velY;
	int32  m_hitPoints;
};

struct Command
{
	uint16 m_player;
	uint16 m_verb;
	int32  m_arg;
};

// From one gateway to one zone.
template <class T, uint32 N>
class Mailbox
{
public:
	bool Post(const T& v) noexcept
	{
		const uint32 h = m_posted.load(std::memory_order_relaxed);
		if (h - m_fetched.load(std::memory_order_acquire) >= N)
			return false;
		m_items[h % N] = v;
		m_posted.store(h + 1, std::memory_order_release);
		return true;
	}
	bool Fetch(T& v) noexcept
	{
		const uint32 t = m_fetched.load(std::memory_order_relaxed);
		if (t == m_posted.load(std::memory_order_acquire))
			return false;
		v = m_items[t % N];
		m_fetched.store(t + 1, std::memory_order_release);
		return true;
	}

private:
	std::atomic<uint32> m_posted{0};
	std::atomic<uint32> m_fetched{0};
	T m_items[N] = {};
};

struct Player
{
	uint32 m_playerId;
	uint32 m_zone;
	uint32 m_commandsSent;  // gateway
	uint32 m_ackedTick;     // replicator
	uint32 m_seed;          // gateway
};

class Zone;
using EventFn = void (*)(Zone& zone, Entity& who, int32 arg);

// Handlers register at start; afterwards the table does not change.
class EventTable
{
public:
	void Register(uint16 verb, const char* name, EventFn fn);
	void Dispatch(uint16 verb, Zone& zone, Entity& who, int32 arg) noexcept
	{
		Handler& h = m_handlers[verb & 3];
		++h.m_calls;
		if (h.m_fn)
			h.m_fn(zone, who, arg);
		else
			++m_unknownVerbs;
	}
	void Dump() const;

private:
	struct Handler
	{
		EventFn     m_fn    = nullptr;
		const char* m_title = nullptr;
		uint32      m_calls = 0;
	};
	Handler m_handlers[4];
	uint32  m_unknownVerbs = 0;
};

class Zone
{
public:
	Zone(int index, Ref<NavMesh> mesh, EventTable& events);
	bool TryEnter() noexcept { return !m_occupied.exchange(true, std::memory_order_acquire); }
	void Leave() noexcept { m_occupied.store(false, std::memory_order_release); }
	void Tick();
	uint32 TickCount() const noexcept { return m_tick.load(std::memory_order_acquire); }
	int Index() const noexcept { return m_index; }
	uint32 Digest() const noexcept { return m_digest; }
	uint32 ViewRadius() const noexcept { return m_viewRadius; }
	void Acknowledge(uint32 tick) noexcept { m_lastAck.store(tick, std::memory_order_relaxed); }
	Entity& At(uint32 i) noexcept { return *m_entities[i % kZoneEntities]; }
	void Adopt(Entity* e, int slot) { m_entities[slot] = e; }
	Mailbox<Command, 8>& Inbox(int gateway) noexcept { return m_inbox[gateway]; }

private:
	const int           m_index;
	uint32              m_viewRadius;
	Ref<NavMesh>        m_mesh;
	EventTable&         m_events;
	std::atomic<bool>   m_occupied{false};
	std::atomic<uint32> m_tick{0};
	uint32              m_digest = 0;
	std::atomic<uint32> m_lastAck{0};
	Entity*             m_entities[kZoneEntities] = {};
	Mailbox<Command, 8> m_inbox[kMaxGateways];
};

class World
{
public:
	World();
	~World();
	Zone& ZoneAt(int i) noexcept { return *m_zones[static_cast<size_t>(i)]; }
	Player& PlayerAt(int i) noexcept { return m_players[static_cast<size_t>(i)]; }
	EventTable& Events() noexcept { return m_events; }
	void Score(uint32 player, uint32 points) noexcept;
	uint64 TotalScore() const noexcept;
	void Report() const;

private:
	EventTable                          m_events;
	std::vector<std::unique_ptr<Zone>>  m_zones;
	std::vector<Entity*>                m_allEntities;
	std::unique_ptr<Player[]>           m_players;
};

void RegisterHandlers(EventTable& t, World& world);
