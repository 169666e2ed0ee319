// ARGS: -std=c++17
// Members of a class and of its base are members of one object.
// expect: independent-writers high Page.refs_ Page.hits_
#include <atomic>
#include <thread>
class Counted {
  std::atomic<int> refs_{1};

public:
  void ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void unref() { refs_.fetch_sub(1, std::memory_order_acq_rel); }
};
class Page : public Counted {
  std::atomic<long> hits_{0};

public:
  void hit() { hits_.fetch_add(1, std::memory_order_relaxed); }
};
static void holder(Page *p) {
  for (int i = 0; i < 1000000; i++) {
    p->ref();
    p->unref();
  }
}
static void hitter(Page *p) {
  for (int i = 0; i < 1000000; i++)
    p->hit();
}
int main() {
  Page *p = new Page;
  std::thread a(holder, p), b(hitter, p);
  a.join();
  b.join();
  delete p;
}
