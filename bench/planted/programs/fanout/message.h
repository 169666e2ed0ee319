// Messages are counted, and come from a fixed pool.
#ifndef FANOUT_MESSAGE_H_
#define FANOUT_MESSAGE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

namespace fanout {

class MessagePool;

class Message {
 public:
  static constexpr int kMaxText = 40;

  void Reset(MessagePool* pool, uint16_t room, uint16_t author, int refs) {
    pool_ = pool;
    room_ = room;
    author_ = author;
    length_ = 0;
    refs_.store(refs, std::memory_order_relaxed);
  }

  void Append(char c) {
    if (length_ < kMaxText) text_[length_++] = c;
  }

  void Unref();

  uint16_t room() const { return room_; }
  uint16_t author() const { return author_; }
  uint16_t length() const { return length_; }
  char at(int i) const { return text_[i]; }

 private:
  MessagePool* pool_ = nullptr;
  std::atomic<int> refs_{0};
  uint16_t room_ = 0;
  uint16_t author_ = 0;
  uint16_t length_ = 0;
  char text_[kMaxText] = {};
};

class MessagePool {
 public:
  explicit MessagePool(int capacity) : messages_(capacity) {
    for (auto& m : messages_) free_.push_back(&m);
  }

  Message* TryGet() {
    std::lock_guard<std::mutex> lock(mu_);
    if (free_.empty()) return nullptr;
    Message* m = free_.back();
    free_.pop_back();
    return m;
  }

  void Put(Message* m) {
    std::lock_guard<std::mutex> lock(mu_);
    free_.push_back(m);
  }

 private:
  std::mutex mu_;
  std::vector<Message*> free_;
  std::vector<Message> messages_;
};

inline void Message::Unref() {
  if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) pool_->Put(this);
}

}  // namespace fanout

#endif  // FANOUT_MESSAGE_H_
