// A queue whose two ends have a lock each, so that producers and consumers need not wait for each other.
// about: head_lock_ tail_lock_ head_ tail_
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

template <typename T> class TwoLockQueue {
  struct Node {
    std::optional<T> value;
    std::unique_ptr<Node> next;
  };

public:
  TwoLockQueue() : head_(std::make_unique<Node>()), tail_(head_.get()) {}

  void push(T value) {
    auto node = std::make_unique<Node>();
    Node *end = node.get();
    std::lock_guard<std::mutex> guard(tail_lock_);
    tail_->value = std::move(value);
    tail_->next = std::move(node);
    tail_ = end;
  }

  std::optional<T> pop() {
    std::lock_guard<std::mutex> guard(head_lock_);
    if (!head_->next)
      return std::nullopt;
    std::optional<T> value = std::move(head_->value);
    head_ = std::move(head_->next);
    return value;
  }

private:
#ifdef FIXED
  alignas(64) std::mutex head_lock_;
  std::unique_ptr<Node> head_;
  alignas(64) std::mutex tail_lock_;
  Node *tail_;
#else
  std::mutex head_lock_;
  std::mutex tail_lock_;
  std::unique_ptr<Node> head_;
  Node *tail_;
#endif
};

struct Request {
  int connection;
  unsigned stream;
#ifdef EDIT
  unsigned flags;
#endif
};

class Dispatcher {
public:
  void post(Request request) { queue_.push(std::move(request)); }
  bool runOne() {
    auto request = queue_.pop();
    if (!request)
      return false;
    handle(*request);
    return true;
  }

private:
  void handle(const Request &request);
  TwoLockQueue<Request> queue_;
};

Dispatcher *makeDispatcher() { return new Dispatcher; }
void postTo(Dispatcher &dispatcher, int connection) { dispatcher.post({connection, 0}); }
bool run(Dispatcher &dispatcher) { return dispatcher.runOne(); }
