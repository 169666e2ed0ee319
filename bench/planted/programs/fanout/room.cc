#include "room.h"

namespace fanout {

bool LengthScreen::Allow(const Message& m) {
  return m.length() <= max_;
}

bool WordScreen::Allow(const Message& m) {
  for (int i = 0; i < m.length(); ++i) {
    if (m.at(i) == banned_) return false;
  }
  return true;
}

void Room::Posted(const Message& m) {
  ++posted_;
  bytes_ += m.length();
  if (m.length() > longest_) {
    longest_ = m.length();
    ++edits_;
  }
}

Roster::Roster(int users, int rooms) : members_(rooms) {
  for (int u = 0; u < users; ++u) {
    for (int r = 0; r < rooms; ++r) {
      if (((u + 1) * (r + 3)) % 3 != 0) members_[r] |= 1u << u;
    }
  }
}

uint32_t Roster::MembersOf(uint16_t room) {
  std::lock_guard<std::mutex> lock(mu_);
  return members_[room];
}

void Roster::Touch() {
  ++sweeps_;
  oldest_ = oldest_ * 5 + sweeps_;
  if (sweeps_ == ~uint64_t{0}) ++kicked_;
}

PresenceTable::PresenceTable(int users) : entries_(users) {
  for (int u = 0; u < users; ++u) entries_[u].user = u;
}

void PresenceTable::Seen(int user, uint64_t stamp) {
  Presence& p = entries_[user];
  p.state |= 1;
  p.last_message = stamp;
  ++p.received;
}

uint64_t PresenceTable::Total() const {
  uint64_t n = 0;
  for (const Presence& p : entries_) n += p.received;
  return n;
}

}  // namespace fanout
