#include "Desk.h"

#include <cstdio>

namespace cabdesk {

namespace {

// Calls put through so far, by the caller; rides that came back, by the crew;
// stops of the meter man.  All three for the wall display.
std::atomic<std::uint32_t> s_callsOut{0};
std::atomic<std::uint32_t> s_callsBack{0};
std::atomic<std::uint32_t> s_stops{0};
std::uint32_t s_wallErrors = 0;

// A flag for each zone: somebody is waiting there.  Set by the caller, put
// back by the crew.
std::atomic<std::uint8_t> s_waitingIn[ZoneCount];

// What the meter man found in each zone; his alone until he is home.
std::uint32_t s_findings[ZoneCount];

const char* const s_standNames[StandCount] = {"Station", "Harbour", "Market", "Museum",
                                              "Hospital", "Airport", "Castle", "Bridge",
                                              "Theatre", "College", "Brewery", "Park"};

std::uint32_t nextTicket() {
    static std::atomic<std::uint32_t> s_ticket{0};
    return s_ticket.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

// --------------------------------------------------------- StandRegistry

StandRegistry& StandRegistry::get() {
    static StandRegistry s_registry;
    return s_registry;
}

unsigned StandRegistry::find(const std::string& name) {
    ++m_lookups;
    auto it = m_stands.find(name);
    if (it == m_stands.end())
        it = m_stands.emplace(name, static_cast<unsigned>(m_stands.size())).first;
    return it->second;
}

// ------------------------------------------------------------ Complaints

void Complaints::file(std::uint32_t ride) {
    std::lock_guard<std::mutex> hold(m_bookLock);
    m_book.push_back(ride);
}

std::size_t Complaints::count() {
    std::lock_guard<std::mutex> hold(m_bookLock);
    return m_book.size();
}

// -------------------------------------------------------------- MeterMan

void MeterMan::start() {
    m_legs = std::thread([this] { walk(); });
}

void MeterMan::stop() {
    m_offDuty.store(true, std::memory_order_relaxed);
    m_legs.join();
}

void MeterMan::visit(unsigned zone) {
    for (unsigned i = 0; i < CabsPerZone; ++i) {
        Cab& cab = Town::get().zone(zone).cabAt(i);
        if (m_rounds % m_options.inspectEvery == 0)
            cab.inspect();
        s_findings[zone] += cab.plate() & 1;
    }
    s_findings[zone] += s_waitingIn[zone].load(std::memory_order_relaxed);
    s_stops.fetch_add(1, std::memory_order_relaxed);
}

void MeterMan::walk() {
    while (!m_offDuty.load(std::memory_order_relaxed)) {
        const unsigned zone = m_rounds % ZoneCount;
        visit(zone);
        Tariff& tariff = Town::get().tariff(m_rounds % ClassCount);
        tariff.surge(100 + m_rounds % 50);
        m_seenTakings += tariff.surge();
        ++m_rounds;
        std::this_thread::yield();
    }
}

// ------------------------------------------------------------ CallWindow

void CallWindow::enter() {
    std::unique_lock<std::mutex> hold(m_door);
    while (m_free == 0)
        m_open.wait(hold);
    --m_free;
}

void CallWindow::leave() {
    std::lock_guard<std::mutex> hold(m_door);
    if (++m_free == 1)
        m_open.notify_one();
}

// ------------------------------------------------------------------ Desk

Desk::Desk(const DeskOptions& options)
    : m_options(options), m_window(options.windowSize), m_executor(options.crew), m_meterMan(m_options) {}

void Desk::open() {
    Town& town = Town::get();
    town.build(m_executor);
    for (const char* name : s_standNames)
        StandRegistry::get().find(name);
    for (unsigned i = 0; i < ClassCount; ++i) {
        m_ledgers[i] = std::make_unique<Ledger>(static_cast<std::uint16_t>(i));
        Ledger* ledger = m_ledgers[i].get();
        town.rideDone.connect(
            [ledger](const Ride& ride, std::uint32_t fare) { ledger->rideDone(ride, fare); });
    }
    town.rideDone.connect([this](const Ride& ride, std::uint32_t) {
        ++m_satisfied[ride.fromZone];
    });
    town.rideRefused.connect([this](const Ride& ride) { m_complaints.file(ride.number); });
    m_meterMan.start();
}

Ride Desk::compose(unsigned number) {
    Ride ride;
    m_callSeed = stir(m_callSeed + number);
    ride.number = nextTicket();
    ride.fromZone = static_cast<std::uint16_t>(m_callSeed % ZoneCount);
    ride.toZone = static_cast<std::uint16_t>((m_callSeed >> 8) % ZoneCount);
    ride.carClass = static_cast<std::uint16_t>((m_callSeed >> 16) % ClassCount);
    ride.party = static_cast<std::uint16_t>(1 + (m_callSeed >> 20) % 4);
    if (number % 5000 == 4999)
        ride.party = 9;  // a bus, which we have not
    ride.seed = m_callSeed;
    ++m_callsTaken;
    return ride;
}

void Desk::takeCalls() {
    for (unsigned n = 0; n < m_options.rides; ++n) {
        const Ride ride = compose(n);
        m_window.enter();
        s_callsOut.fetch_add(1, std::memory_order_relaxed);
        s_waitingIn[ride.fromZone].store(1, std::memory_order_relaxed);
        Zone& zone = Town::get().zone(ride.fromZone);
        zone.strand().post([this, &zone, ride] {
            zone.serve(ride);
            s_waitingIn[ride.fromZone].store(0, std::memory_order_relaxed);
            s_callsBack.fetch_add(1, std::memory_order_relaxed);
            m_window.leave();
        });
    }
}

void Desk::close() {
    m_executor.drain();
    m_meterMan.stop();
    m_executor.stop();
    if (s_callsOut.load() != s_callsBack.load()) {
        ++s_wallErrors;
        ++m_holdups;
    }
}

void Desk::report() {
    Town& town = Town::get();
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < ZoneCount; ++i) {
        Zone& zone = town.zone(i);
        std::uint32_t takings = 0, trips = 0;
        for (unsigned k = 0; k < CabsPerZone; ++k) {
            takings += zone.cabAt(k).takings();
            trips += zone.cabAt(k).trips();
        }
        std::printf("zone %u: checksum %08x, %u trips, %u taken, %u arrivals, %u refused, %u happy, "
                    "strand %u\n",
                    i, zone.checksum(), trips, takings, zone.arrivals(), zone.refused(),
                    m_satisfied[i], zone.strand().served());
        sum += zone.checksum();
    }
    for (unsigned i = 0; i < ClassCount; ++i)
        std::printf("class %u: %u rides, income %llu, %u quotes\n", i, m_ledgers[i]->rides(),
                    static_cast<unsigned long long>(m_ledgers[i]->income()), town.tariff(i).quotes());
    std::printf("calls %u, rides %u, miles %u, emitted %u, refused %u, complaints %zu, stands %zu\n",
                m_callsTaken, Town::s_ridesDone.load(), Town::s_mileage.load(),
                town.rideDone.emitted(), town.rideRefused.emitted(), m_complaints.count(),
                StandRegistry::get().size());
    if (m_options.chatty)
        std::printf("meter man: %u rounds, saw %u, found %u; crew ran %llu, napped %u; wall errors %u\n",
                    m_meterMan.rounds(), m_meterMan.seenTakings(), s_findings[0],
                    static_cast<unsigned long long>(m_executor.executed()), m_executor.naps(),
                    s_wallErrors);
    std::printf("sum %08x\n", sum);
}

}  // namespace cabdesk
