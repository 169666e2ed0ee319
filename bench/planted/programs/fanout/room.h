#ifndef FANOUT_ROOM_H_
#define FANOUT_ROOM_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "message.h"

namespace fanout {

// Looks at a message before it is fanned out.
class Screen {
 public:
  virtual ~Screen() = default;
  virtual bool Allow(const Message& m) = 0;
};

class LengthScreen : public Screen {
 public:
  explicit LengthScreen(int max) : max_(max) {}
  bool Allow(const Message& m) override;

 private:
  int max_;
};

class WordScreen : public Screen {
 public:
  explicit WordScreen(char banned) : banned_(banned) {}
  bool Allow(const Message& m) override;

 private:
  char banned_;
};

struct ScreenSlot {
  std::unique_ptr<Screen> screen;
  uint64_t examined = 0;
  uint64_t blocked = 0;
};

// One room.
class Room {
 public:
  explicit Room(uint16_t id) : id_(id) {}

  void Posted(const Message& m);
  uint16_t id() const { return id_; }
  uint64_t posted() const { return posted_; }
  uint64_t bytes() const { return bytes_; }

 private:
  uint16_t id_;
  uint16_t longest_ = 0;
  uint32_t edits_ = 0;
  uint64_t posted_ = 0;
  uint64_t bytes_ = 0;
};

// Who is in which room.
class Roster {
 public:
  Roster(int users, int rooms);

  // Members of the room, as a bit mask.
  uint32_t MembersOf(uint16_t room);
  void Touch();
  uint64_t sweeps() const { return sweeps_; }

 private:
  std::mutex mu_;
  uint64_t sweeps_ = 0;
  uint64_t oldest_ = 0;
  std::vector<uint32_t> members_;
  uint64_t kicked_ = 0;
};

// Presence of a user.
struct Presence {
  uint32_t user = 0;
  uint32_t state = 0;
  uint64_t last_message = 0;
  uint64_t received = 0;
};

class PresenceTable {
 public:
  explicit PresenceTable(int users);
  void Seen(int user, uint64_t stamp);
  uint64_t Total() const;

 private:
  std::deque<Presence> entries_;
};

}  // namespace fanout

#endif  // FANOUT_ROOM_H_
