// An aligned std::mutex whose tail holds a list head that another thread reads all the time.
// ARGS: -fno-toplevel-reorder
// expect: aligned-without-padding high app::queue_lock app::head
#include <mutex>
#include <thread>
namespace app {
struct Item {
  Item *next;
};
alignas(64) std::mutex queue_lock;
Item *volatile head;
long taken;
} // namespace app
static void push(long n) {
  for (long i = 0; i < n; i++) {
    std::lock_guard<std::mutex> hold(app::queue_lock);
    auto *item = new app::Item{app::head};
    app::head = item;
  }
}
static void poll(long n) {
  for (long i = 0; i < n; i++)
    if (app::head)
      app::taken++;
}
int main(int argc, char **) {
  std::thread a(push, argc * 1000L), b(poll, argc * 1000L);
  a.join();
  b.join();
  return app::taken != 0;
}
