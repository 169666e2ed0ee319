#include "Town.h"

namespace cabdesk {

std::atomic<std::uint32_t> Town::s_ridesDone{0};
std::atomic<std::uint32_t> Town::s_mileage{0};
std::uint32_t Town::s_buildings = 0;

namespace {

// Seats by the make of the car; never written.
const std::uint32_t s_seatsOf[] = {4, 4, 6, 8};

// How far people went, in eight steps, one row for each crew member.
std::uint32_t s_distanceRows[nimble::MaxCrew][4];

// Zones that turned a ride down, a byte for each; cold.
std::uint8_t s_turnedDown[ZoneCount];

// What a search for a cab needs of its own.
struct alignas(64) SearchPad {
    std::uint32_t candidates[CabsPerZone];
    std::uint32_t rounds;
};
SearchPad s_pads[nimble::MaxCrew];

std::uint32_t absDiff(std::uint32_t a, std::uint32_t b) { return a > b ? a - b : b - a; }

}  // namespace

// ------------------------------------------------------------------- Cab

std::uint32_t Cab::distanceTo(std::uint32_t x, std::uint32_t y) const {
    return absDiff(m_posX, x) + absDiff(m_posY, y);
}

void Cab::drive(std::uint32_t x, std::uint32_t y, std::uint32_t fare) {
    m_posX = x;
    m_posY = y;
    m_takings += fare;
    ++m_trips;
}

// ------------------------------------------------------------------ Zone

Zone::Zone(nimble::Executor& executor, unsigned index)
    : m_index(index), m_originX(index % 3 * 100), m_originY(index / 3 * 100), m_strand(executor, index) {
    for (unsigned i = 0; i < CabsPerZone; ++i)
        m_cabs[i] = std::make_unique<Cab>(1000 * index + i, s_seatsOf[(index + i) % 4]);
}

Cab* Zone::pick(const Ride& ride, std::uint32_t x, std::uint32_t y, std::uint32_t& distance) {
    SearchPad& pad = s_pads[nimble::crewNumber()];
    Cab* best = nullptr;
    distance = ~0u;
    for (unsigned i = 0; i < CabsPerZone; ++i) {
        Cab& cab = *m_cabs[i];
        pad.candidates[i] = cab.distanceTo(x, y);
        if (cab.seats() < ride.party)
            continue;
        if (pad.candidates[i] < distance) {
            distance = pad.candidates[i];
            best = &cab;
        }
    }
    ++pad.rounds;
    return best;
}

void Zone::serve(const Ride& ride) {
    Town& town = Town::get();
    const std::uint32_t x = m_originX + stir(ride.seed) % 100;
    const std::uint32_t y = m_originY + stir(ride.seed + 1) % 100;
    std::uint32_t distance = 0;
    Cab* cab = pick(ride, x, y, distance);
    if (cab == nullptr) {
        ++m_refused;
        ++s_turnedDown[m_index];
        town.rideRefused.emit(ride);
        return;
    }
    const std::uint32_t fare = town.tariff(ride.carClass).quote(distance);
    cab->drive(x, y, fare);
    m_checksum = m_checksum * 31 + fare + cab->plate();
    if (ride.toZone != m_index)
        town.zone(ride.toZone).arrive();
    ++s_distanceRows[nimble::crewNumber()][distance / 64 & 3];
    Town::s_ridesDone.fetch_add(1, std::memory_order_relaxed);
    Town::s_mileage.fetch_add(distance, std::memory_order_relaxed);
    town.rideDone.emit(ride, fare);
}

// ------------------------------------------------------------------ Town

Town& Town::get() {
    static Town s_town;
    return s_town;
}

void Town::build(nimble::Executor& executor) {
    for (unsigned i = 0; i < ClassCount; ++i)
        m_tariffs[i] = std::make_unique<Tariff>(200 + 50 * i, 3 + i);
    for (unsigned i = 0; i < ZoneCount; ++i) {
        m_zones[i] = std::make_unique<Zone>(executor, i);
        ++s_buildings;
    }
}

}  // namespace cabdesk
