#include "World.h"

namespace
{
// The score board: a lock for each pair of players, and the sums beside it.
SpinMutex s_scoreLocks[kPlayers / 2];
uint32    s_scores[kPlayers];
std::atomic<uint32> s_scoreUpdates{0};
uint32    s_scoreCap = 0x7fffffff;
World*    s_world;

// Chat lines of the players, for the moderators.
struct ChatLog
{
	std::mutex  m_chatMutex;
	uint32      m_chatLines = 0;
	uint32      m_chatDropped = 0;
	std::string m_lastLine;
} s_chat;

void Say(uint32 who, int32 what)
{
	std::lock_guard<std::mutex> guard(s_chat.m_chatMutex);
	if (++s_chat.m_chatLines > 100000)
	{
		++s_chat.m_chatDropped;
		return;
	}
	s_chat.m_lastLine = "player " + std::to_string(who) + " says " + std::to_string(what);
}

// From the map file, for those who come back to life.
struct SpawnPoint
{
	int16_t m_spawnX, m_spawnY, m_spawnRadius;
};
SpawnPoint s_spawnPoints[kZones];
uint32     s_respawns[kMaxWorkers * 16];   // a line for each worker is enough

void OnMove(Zone&, Entity& who, int32 arg)
{
	const int32 max = g_config.maxSpeed;
	who.m_velX = static_cast<int16_t>(arg % max);
	who.m_velY = static_cast<int16_t>((arg >> 4) % max);
}

void OnHit(Zone& zone, Entity& who, int32 arg)
{
	Entity& target = zone.At(static_cast<uint32>(arg));
	target.m_hitPoints -= 5;
	if (target.m_hitPoints <= 0)
	{
		const SpawnPoint& sp = s_spawnPoints[zone.Index()];
		target.m_hitPoints = 100;
		target.m_posX = sp.m_spawnX + arg % sp.m_spawnRadius;
		++s_respawns[tl_workerId * 16];
	}
	ZT_STAT(hits);
	s_world->Score(who.m_entityId, 1);
}

void OnHeal(Zone&, Entity& who, int32 arg)
{
	who.m_hitPoints += arg & 3;
	if ((g_tickTimes[tl_workerId].m_samples & 0x3fff) == 0x3fff)
		Say(who.m_entityId, arg);
	if (who.m_hitPoints > 200)
		who.m_hitPoints = 200;
}
}

NavMesh::NavMesh(uint32 seed) : m_walkMask(seed | 0x0f0f)
{
	for (uint8& c : m_cells)
	{
		seed = seed * 1664525u + 1013904223u;
		c = static_cast<uint8>(seed >> 28);
	}
}

void EventTable::Register(uint16 verb, const char* name, EventFn fn)
{
	ZT_ASSERT(verb < 4 && m_handlers[verb].m_fn == nullptr);
	m_handlers[verb].m_fn = fn;
	m_handlers[verb].m_title = name;
}

void EventTable::Dump() const
{
	for (const Handler& h : m_handlers)
		if (h.m_title)
			ZT_LOG(1, "event %s: %u calls", h.m_title, h.m_calls);
	if (m_unknownVerbs)
		ZT_LOG(1, "%u unknown verbs", m_unknownVerbs);
}

Zone::Zone(int index, Ref<NavMesh> mesh, EventTable& events)
	: m_index(index), m_viewRadius(16 + static_cast<uint32>(index)), m_mesh(mesh), m_events(events)
{
}

void Zone::Tick()
{
	Ref<NavMesh> mesh = m_mesh;     // a reload may replace it while we run
	const int32 gravity = g_config.gravity;
	uint32 digest = m_digest;

	for (int g = 0; g < g_config.gateways; ++g)
	{
		Command c;
		while (m_inbox[g].Fetch(c))
		{
			ZT_STAT(commands);
			m_events.Dispatch(c.m_verb, *this, At(c.m_player), c.m_arg);
		}
	}
	for (Entity* e : m_entities)
	{
		e->m_posX += e->m_velX;
		e->m_posY += e->m_velY - gravity;
		if (e->m_posY < mesh->Height(static_cast<uint32>(e->m_posX) >> 4, static_cast<uint32>(e->m_posY) >> 4))
			e->m_posY = 40;
		digest = digest * 33 + static_cast<uint32>(e->m_posX ^ e->m_posY);
	}
	TickTimes& times = g_tickTimes[tl_workerId];
	++times.m_samples;
	times.m_entitiesMoved += kZoneEntities;
	times.m_weight += digest & 0xff;
	m_digest = digest & mesh->Walkable();
	m_tick.store(m_tick.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

World::World()
{
	Ref<NavMesh> mesh(new NavMesh(4711));
	Ref<NavMesh> caves(new NavMesh(815));

	s_world = this;
	for (int i = 0; i < kZones; ++i)
		m_zones.push_back(std::make_unique<Zone>(i, i % 2 ? caves : mesh, m_events));
	// spawn round robin, as the map file lists them
	for (int slot = 0; slot < kZoneEntities; ++slot)
		for (int z = 0; z < kZones; ++z)
		{
			Entity* e = new Entity{};
			e->m_entityId = static_cast<uint32>(slot * kZones + z);
			e->m_posX = slot * 7;
			e->m_posY = 40 + z;
			e->m_hitPoints = 100;
			m_allEntities.push_back(e);
			m_zones[static_cast<size_t>(z)]->Adopt(e, slot);
		}
	m_players = std::make_unique<Player[]>(kPlayers);
	for (int p = 0; p < kPlayers; ++p)
	{
		m_players[p].m_playerId = static_cast<uint32>(p);
		m_players[p].m_zone = static_cast<uint32>(p % kZones);
		m_players[p].m_seed = static_cast<uint32>(p) * 7919u + 3u;
	}
	for (int z = 0; z < kZones; ++z)
		s_spawnPoints[z] = {static_cast<int16_t>(z * 7), static_cast<int16_t>(40 + z), 8};
	RegisterHandlers(m_events, *this);
}

World::~World()
{
	for (Entity* e : m_allEntities)
		delete e;
}

void RegisterHandlers(EventTable& t, World&)
{
	t.Register(0, "move", OnMove);
	t.Register(1, "hit", OnHit);
	t.Register(2, "heal", OnHeal);
}

void World::Score(uint32 player, uint32 points) noexcept
{
	const uint32 p = player % kPlayers;
	std::lock_guard<SpinMutex> guard(s_scoreLocks[p / 2]);
	if (s_scores[p] < s_scoreCap)
		s_scores[p] += points;
	s_scoreUpdates.fetch_add(1, std::memory_order_relaxed);
}

uint64 World::TotalScore() const noexcept
{
	uint64 s = 0;
	for (uint32 v : s_scores)
		s += v;
	return s;
}

void World::Report() const
{
	m_events.Dump();
	for (int i = 0; i < kZones; ++i)
		ZT_LOG(2, "zone %d: %u ticks, digest %08x", m_zones[static_cast<size_t>(i)]->Index(), m_zones[static_cast<size_t>(i)]->TickCount(), m_zones[static_cast<size_t>(i)]->Digest());
	uint32 respawns = 0;
	for (int w = 0; w < kMaxWorkers; ++w)
		respawns += s_respawns[w * 16];
	ZT_LOG(1, "%u respawns, %u chat lines", respawns, s_chat.m_chatLines);
	ZT_LOG(1, "score %llu in %u updates", static_cast<unsigned long long>(TotalScore()), s_scoreUpdates.load());
}
