#include "hub.h"

#include <cstdio>
#include <thread>

namespace fanout {

namespace {

thread_local uint32_t stamp_base = 0;

uint32_t NextRandom(uint32_t* state) {
  *state = *state * 747796405u + 2891336453u;
  return *state >> 16;
}

}  // namespace

Hub::Hub(const Options& o)
    : options(o),
      gate(2 * kDispatchers + kDeliverers + 1),
      pool(6),
      roster(kUsers, kRooms),
      presence(kUsers),
      unread(kUsers),
      credits(new Credit[kDispatchers]) {
  for (int r = 0; r < kRooms; ++r) rooms.emplace_back(static_cast<uint16_t>(r));
  screens[0].screen = std::make_unique<LengthScreen>(Message::kMaxText);
  screens[1].screen = std::make_unique<WordScreen>('#');
}

Author::Author(Hub* hub, int index)
    : Worker("author"), hub_(hub), index_(index), rng_(1234567u + index) {}

bool Author::TakeCredit() {
  Credit& c = hub_->credits[index_];
  if (c.used - c.granted.load(std::memory_order_acquire) >= c.limit) {
    ++c.waits;
    return false;
  }
  ++c.used;
  return true;
}

Message* Author::Compose(uint32_t n) {
  Message* m;
  while ((m = hub_->pool.TryGet()) == nullptr) std::this_thread::yield();
  // Rooms with the parity of the author, so that each has one dispatcher.
  const uint16_t room = static_cast<uint16_t>((n % (kRooms / 2)) * 2 + index_);
  m->Reset(&hub_->pool, room, static_cast<uint16_t>(index_), kDeliverers);
  const int length = 4 + static_cast<int>(NextRandom(&rng_) % hub_->options.text);
  for (int i = 0; i < length; ++i) m->Append(static_cast<char>('a' + (n + i) % 26));
  return m;
}

void Author::Run() {
  hub_->gate.Arrive();
  for (int n = 0; n < hub_->options.messages; ++n) {
    while (!TakeCredit()) std::this_thread::yield();
    Message* m = Compose(static_cast<uint32_t>(n));
    hub_->on_post(*m);
    while (!hub_->inboxes[index_].Push(m)) std::this_thread::yield();
    Beat();
  }
  hub_->authors_left.fetch_sub(1);
}

Dispatcher::Dispatcher(Hub* hub, int index) : Worker("dispatcher"), hub_(hub), index_(index) {}

bool Dispatcher::Screened(const Message& m) {
  ScreenSlot& slot = hub_->screens[index_];
  slot.examined += m.length();
  if (!slot.screen->Allow(m)) {
    ++slot.blocked;
    return false;
  }
  return true;
}

void Dispatcher::Run() {
  hub_->gate.Arrive();
  for (;;) {
    const bool last = hub_->authors_left.load() == 0;
    Message* m;
    if (!hub_->inboxes[index_].Pop(&m)) {
      if (last) break;
      std::this_thread::yield();
      continue;
    }
    Beat();
    if (!Screened(*m)) Traffic::refused.fetch_add(1);
    hub_->rooms[m->room()].Posted(*m);
    Traffic::CountDispatch();
    for (auto& outbox : hub_->outboxes) outbox.Push(m);
  }
  if (hub_->dispatchers_left.fetch_sub(1) == 1) {
    for (auto& outbox : hub_->outboxes) outbox.Close();
  }
}

Deliverer::Deliverer(Hub* hub, int index) : Worker("deliverer"), hub_(hub), index_(index) {}

void Deliverer::Deliver(const Message& m) {
  const uint32_t members = hub_->roster.MembersOf(m.room());
  char line[Message::kMaxText + 8];
  uint32_t digest = 0;
  for (int i = 0; i < m.length(); ++i) {
    line[i] = m.at(i);
    digest = digest * 33 + static_cast<unsigned char>(line[i]);
  }
  for (int user = index_; user < kUsers; user += kDeliverers) {
    if ((members >> user & 1) == 0) continue;
    hub_->unread[user].fetch_add(1, std::memory_order_relaxed);
    hub_->presence.Seen(user, ++stamp_base + (digest & 1));
    hub_->on_deliver(user, m);
    Traffic::CountDelivery();
  }
  DelivererTotals& t = hub_->totals[index_];
  ++t.messages;
  t.characters += m.length();
}

void Deliverer::Run() {
  hub_->gate.Arrive();
  Message* m;
  while (hub_->outboxes[index_].Pop(&m)) {
    Beat();
    Deliver(*m);
    hub_->credits[m->author()].granted.fetch_add(index_ == 0 ? 1 : 0, std::memory_order_release);
    m->Unref();
  }
}

Watchdog::Watchdog(Hub* hub, std::vector<Worker*> watched)
    : Worker("watchdog"), hub_(hub), watched_(std::move(watched)) {}

void Watchdog::Run() {
  hub_->gate.Arrive();
  while (!hub_->stopping.load()) {
    for (Worker* w : watched_) {
      if (!w->Check() && hub_->options.verbose) {
        std::fprintf(stderr, "%s is late\n", w->name().c_str());
      }
    }
    hub_->roster.Touch();
    std::this_thread::yield();
  }
}

}  // namespace fanout
