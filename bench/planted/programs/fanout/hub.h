#ifndef FANOUT_HUB_H_
#define FANOUT_HUB_H_

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "message.h"
#include "queue.h"
#include "room.h"
#include "worker.h"

namespace fanout {

constexpr int kDispatchers = 2;
constexpr int kDeliverers = 2;
constexpr int kRooms = 6;
constexpr int kUsers = 12;

struct Options {
  int messages = 20000;
  int text = 24;
  bool verbose = false;
};

using Inbox = SpscQueue<Message*, 32>;
using Outbox = BlockingQueue<Message*, 16>;
using DeliverCallback = std::function<void(int user, const Message&)>;
using PostCallback = std::function<void(const Message&)>;

// Class-wide totals.
struct Traffic {
  inline static std::atomic<uint64_t> dispatched{0};
  inline static std::atomic<uint64_t> fanned_out{0};
  inline static std::atomic<uint64_t> refused{0};
  static void CountDispatch() { dispatched.fetch_add(1, std::memory_order_relaxed); }
  static void CountDelivery() { fanned_out.fetch_add(1, std::memory_order_relaxed); }
};

struct alignas(64) DelivererTotals {
  uint64_t messages = 0;
  uint64_t characters = 0;
};

// Flow control between an author and the deliverers.
struct Credit {
  uint32_t used = 0;
  uint32_t waits = 0;
  std::atomic<uint32_t> granted{0};
  uint32_t limit = 64;
};

struct Hub {
  explicit Hub(const Options& o);

  Options options;
  StartGate gate;
  alignas(64) MessagePool pool;
  alignas(64) Roster roster;
  alignas(64) PresenceTable presence;
  std::vector<Room> rooms;
  std::array<Inbox, kDispatchers> inboxes;
  std::array<Outbox, kDeliverers> outboxes;
  std::vector<std::atomic<uint32_t>> unread;
  std::array<ScreenSlot, 2> screens;
  std::unique_ptr<Credit[]> credits;
  std::array<DelivererTotals, kDeliverers> totals;
  alignas(64) std::atomic<int> authors_left{kDispatchers};
  alignas(64) std::atomic<int> dispatchers_left{kDispatchers};
  alignas(64) std::atomic<bool> stopping{false};
  PostCallback on_post;
  DeliverCallback on_deliver;
};

class Author : public Worker {
 public:
  Author(Hub* hub, int index);

 protected:
  void Run() override;

 private:
  Message* Compose(uint32_t n);
  bool TakeCredit();

  Hub* hub_;
  int index_;
  uint32_t rng_;
};

class Dispatcher : public Worker {
 public:
  Dispatcher(Hub* hub, int index);

 protected:
  void Run() override;

 private:
  bool Screened(const Message& m);

  Hub* hub_;
  int index_;
};

class Deliverer : public Worker {
 public:
  Deliverer(Hub* hub, int index);

 protected:
  void Run() override;

 private:
  void Deliver(const Message& m);

  Hub* hub_;
  int index_;
};

class Watchdog : public Worker {
 public:
  Watchdog(Hub* hub, std::vector<Worker*> watched);

 protected:
  void Run() override;

 private:
  Hub* hub_;
  std::vector<Worker*> watched_;
};

}  // namespace fanout

#endif  // FANOUT_HUB_H_
