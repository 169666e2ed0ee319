// Handles that count references, in a vector: threads copy what one at a computed index leads to, and change no handle.
// no-finding
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

struct Body {
  void ref() { refs.fetch_add(1, std::memory_order_relaxed); }
  void unref() {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }
  alignas(64) std::atomic<long> refs{1};
  alignas(64) long value = 3;
};

template <class T> class Ref {
public:
  explicit Ref(T *body) : body_(body) {}
  Ref(const Ref &other) : body_(other.body_) { body_->ref(); }
  Ref(Ref &&other) noexcept : body_(std::exchange(other.body_, nullptr)) {}
  ~Ref() {
    if (body_)
      body_->unref();
  }
  T *operator->() const { return body_; }

private:
  T *body_;
};

class Table {
public:
  explicit Table(unsigned count) {
    for (unsigned i = 0; i < count; i++)
      handles_.emplace_back(new Body);
  }
  long sum(unsigned long times) {
    long total = 0;
    for (unsigned long i = 0; i < times; i++)
      total += read(handles_[i * 7919 % handles_.size()]);
    return total;
  }

private:
  static long read(const Ref<Body> &handle) {
    Ref<Body> mine(handle);
    Ref<Body> moved(std::move(mine));
    return moved->value;
  }
  std::vector<Ref<Body>> handles_;
};

int main() {
  Table table(16);
  std::vector<std::thread> threads;
  std::atomic<long> total{0};
  for (int i = 0; i < 8; i++)
    threads.emplace_back([&] { total += table.sum(100000000); });
  for (auto &thread : threads)
    thread.join();
  return total == 0;
}
