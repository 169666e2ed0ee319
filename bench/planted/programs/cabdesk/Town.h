#pragma once
// The town: zones with their cabs, and the tariff.
#include "Exec.h"

#include <array>

namespace cabdesk {

constexpr unsigned ZoneCount = 6;
constexpr unsigned CabsPerZone = 5;
constexpr unsigned StandCount = 12;
constexpr unsigned ClassCount = 4;

struct Ride {
    std::uint32_t number = 0;
    std::uint16_t fromZone = 0;
    std::uint16_t toZone = 0;
    std::uint16_t carClass = 0;
    std::uint16_t party = 1;
    std::uint32_t seed = 0;
};

/// One cab.  Its zone's strand moves it; the meter man reads and stamps it.
class Cab {
public:
    Cab(std::uint32_t plate, std::uint32_t seats) : m_plate(plate), m_seats(seats) {}

    std::uint32_t plate() const { return m_plate; }
    std::uint32_t seats() const { return m_seats; }
    std::uint32_t distanceTo(std::uint32_t x, std::uint32_t y) const;
    void drive(std::uint32_t x, std::uint32_t y, std::uint32_t fare);
    void inspect() { ++m_inspections; }
    std::uint32_t takings() const { return m_takings; }
    std::uint32_t trips() const { return m_trips; }

private:
    std::uint32_t m_plate;
    std::uint32_t m_seats;
    std::uint32_t m_posX = 50;
    std::uint32_t m_posY = 50;
    std::uint32_t m_takings = 0;
    std::uint32_t m_trips = 0;
    std::uint32_t m_inspections = 0;  // the meter man
};

/// Prices; one object for each class of car.  The base is fixed, the surge
/// is moved by the meter man, the quotes are counted by all.
class Tariff {
public:
    Tariff(std::uint32_t base, std::uint32_t perUnit) : m_base(base), m_perUnit(perUnit) {}

    std::uint32_t quote(std::uint32_t distance) {
        m_quotes.fetch_add(1, std::memory_order_relaxed);
        return m_base + m_perUnit * distance;
    }
    void surge(std::uint32_t s) { m_surge.store(s, std::memory_order_relaxed); }
    std::uint32_t surge() const { return m_surge.load(std::memory_order_relaxed); }
    std::uint32_t quotes() const { return m_quotes.load(std::memory_order_relaxed); }

private:
    std::uint32_t m_base;
    std::uint32_t m_perUnit;
    std::atomic<std::uint32_t> m_surge{100};
    std::atomic<std::uint32_t> m_quotes{0};
};

class Zone {
public:
    Zone(nimble::Executor& executor, unsigned index);

    nimble::Strand& strand() { return m_strand; }
    void serve(const Ride& ride);
    Cab& cabAt(unsigned i) { return *m_cabs[i]; }
    std::uint32_t checksum() const { return m_checksum; }
    std::uint32_t refused() const { return m_refused; }
    std::uint32_t arrivals() const { return m_arrivals.load(std::memory_order_relaxed); }
    void arrive() { m_arrivals.fetch_add(1, std::memory_order_relaxed); }

private:
    Cab* pick(const Ride& ride, std::uint32_t x, std::uint32_t y, std::uint32_t& distance);

    unsigned m_index;
    std::uint32_t m_originX;
    std::uint32_t m_originY;
    std::array<std::unique_ptr<Cab>, CabsPerZone> m_cabs;
    std::uint32_t m_checksum = 17;                // its strand
    std::uint32_t m_refused = 0;                  // its strand
    std::atomic<std::uint32_t> m_arrivals{0};     // the other zones
    nimble::Strand m_strand;
};

class Town {
public:
    static Town& get();

    void build(nimble::Executor& executor);
    Zone& zone(unsigned i) { return *m_zones[i]; }
    Tariff& tariff(unsigned carClass) { return *m_tariffs[carClass]; }

    nimble::Signal<const Ride&, std::uint32_t> rideDone;
    nimble::Signal<const Ride&> rideRefused;

    static std::atomic<std::uint32_t> s_ridesDone;
    static std::atomic<std::uint32_t> s_mileage;
    static std::uint32_t s_buildings;   // at the start

private:
    std::array<std::unique_ptr<Tariff>, ClassCount> m_tariffs;
    std::array<std::unique_ptr<Zone>, ZoneCount> m_zones;
};

inline std::uint32_t stir(std::uint32_t x) {
    x = (x ^ (x >> 16)) * 0x45d9f3bu;
    x = (x ^ (x >> 16)) * 0x45d9f3bu;
    return x ^ (x >> 16);
}

}  // namespace cabdesk
