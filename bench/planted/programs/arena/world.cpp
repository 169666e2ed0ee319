#include "world.hpp"

namespace arena {

namespace {
alignas(64) std::array<std::atomic<std::uint64_t>, 8> event_cells{};
thread_local std::uint64_t local_events = 0;
} // namespace

void count_event() {
    std::size_t h = std::hash<std::thread::id>()(std::this_thread::get_id());
    event_cells[h % event_cells.size()].fetch_add(1, std::memory_order_relaxed);
    local_events++;
}

std::uint64_t count_total() {
    std::uint64_t n = 0;
    for (auto &c : event_cells)
        n += c.load();
    return n;
}

World::World() : entities_(kEntities), heat_(kEntities), ai_(*this), map_(256) {
    for (unsigned i = 0; i < kEntities; i++) {
        Entity &e = entities_[i];
        e.x = static_cast<float>(i % 16);
        e.y = static_cast<float>(i / 16);
        e.vx = static_cast<float>(i % 3) - 1.0f;
        e.vy = static_cast<float>(i % 5) - 2.0f;
        e.zone = static_cast<std::uint16_t>(i % 7);
        e.kind = static_cast<std::uint16_t>(i % 4);
    }
    for (std::size_t i = 0; i < map_.size(); i++)
        map_[i] = static_cast<std::uint8_t>(i * 37);
    tiles_ = map_.data();
    in_ = &open_tally();
    out_ = &open_tally();
}

Tally &World::open_tally() {
    tallies_.emplace_back();
    return tallies_.back();
}

void World::physics_chunk(unsigned first, unsigned worker) {
    Lane &lane = lanes_[worker];
    for (unsigned i = first; i < first + kChunk && i < kEntities; i++) {
        Entity &e = entities_[i];
        e.x += e.vx * 0.05f;
        e.y += e.vy * 0.05f;
        unsigned cell = (static_cast<unsigned>(e.x) & 15u) * 16u + (static_cast<unsigned>(e.y) & 15u);
        if (tiles_[cell] > 200 || e.x > 16 || e.x < 0) {
            e.vx = -e.vx;
            lane.bounced++;
        }
        if (e.y > 16 || e.y < 0)
            e.vy = -e.vy;
        lane.moved++;
    }
    count_event();
}

// stripes are interleaved: stripe s owns the cells s, s + kWorkers, ...
void World::heat_stripe(unsigned stripe, unsigned) {
    for (unsigned i = stripe; i < kEntities; i += kWorkers)
        heat_[i] += static_cast<std::uint32_t>(entities_[i].zone) + 1;
}

void AiSystem::step() {
    for (Entity &e : world_.entities()) {
        std::uint32_t m = e.mood * 1664525u + e.zone;
        m ^= m >> 13;
        e.mood = m;
        if ((m & 7) == 0) {
            e.goal = static_cast<std::int32_t>(m >> 8 & 15);
            changes_++;
        }
        __atomic_store_n(&decisions_, decisions_ + 1, __ATOMIC_RELAXED);
    }
    count_event();
}

void World::receive(const char *data, std::size_t n) {
    std::uint32_t sum = 0;
    if (n < 4) {
        bad_packets_++;
        return;
    }
    for (std::size_t i = 0; i < n; i++)
        sum = sum * 33 + static_cast<unsigned char>(data[i]);
    traffic_.first.fetch_add(n, std::memory_order_relaxed);
    in_->events++;
    in_->bytes += n;
    ai_.request(sum);
    status_.pings.fetch_add(1, std::memory_order_relaxed);
    count_event();
}

std::size_t World::transmit(char *out, std::size_t cap) {
    std::size_t n = 0;
    std::uint64_t seq = out_->events;
    {
        std::shared_lock<std::shared_mutex> g(map_mu_);
        for (unsigned i = 0; i < 24 && n < cap; i++)
            out[n++] = static_cast<char>(map_[(seq + i) % map_.size()]);
    }
    if (n < 24) {
        truncated_++;
        failed_.store(true);
    }
    traffic_.second.fetch_add(n, std::memory_order_relaxed);
    out_->events++;
    out_->bytes += n;
    for (unsigned i = 0; i < 8; i++)
        status_.label[6 + i] = static_cast<char>('0' + (seq >> (3 * i) & 7));
    count_event();
    return n;
}

void World::snapshot() {
    std::lock_guard<std::mutex> g(snap_mu_);
    snaps_++;
    snap_bytes_ += entities_.size() * sizeof(Entity);
}

void World::report(std::FILE *f) {
    std::uint64_t moved = 0, bounced = 0, heat = 0;
    for (const Lane &l : lanes_) {
        moved += l.moved;
        bounced += l.bounced;
    }
    for (std::uint32_t h : heat_)
        heat += h;
    std::fprintf(f, "moved %llu bounced %llu heat %llu decisions %llu\n",
                 static_cast<unsigned long long>(moved), static_cast<unsigned long long>(bounced),
                 static_cast<unsigned long long>(heat),
                 static_cast<unsigned long long>(ai_.decisions()));
    std::fprintf(f, "in %llu out %llu requests %llu pings %u label %s\n",
                 static_cast<unsigned long long>(traffic_.first.load()),
                 static_cast<unsigned long long>(traffic_.second.load()),
                 static_cast<unsigned long long>(ai_.requests()), status_.pings.load(),
                 status_.label.c_str());
    for (const Tally &t : tallies_)
        std::fprintf(f, "tally: %llu events %llu bytes\n", static_cast<unsigned long long>(t.events),
                     static_cast<unsigned long long>(t.bytes));
    std::fprintf(f, "snapshots %llu (%llu bytes), errors %llu/%llu\n",
                 static_cast<unsigned long long>(snaps_),
                 static_cast<unsigned long long>(snap_bytes_),
                 static_cast<unsigned long long>(bad_packets_),
                 static_cast<unsigned long long>(truncated_));
}

} // namespace arena
